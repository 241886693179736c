// Asks jest and vitest to name every test, has mocha tell of each with its file, and says that they were heard. Nothing is
// changed but what is printed and written here.
'use strict';
const fs = require('fs');
const path = require('path');

const script = (process.argv[1] || '').replace(/\\/g, '/');
const reports = process.env.REDRAFT_REPORTS;
const asks = [
  [/\/(jest|jest-cli)\/bin\/jest\.js$|\/\.bin\/jest$/, '--verbose'],
  [/\/vitest\/(vitest|dist\/cli)\.m?js$|\/\.bin\/vitest$/, '--reporter=verbose'],
];
for (const [tool, flag] of asks) {
  if (tool.test(script)) {
    const end = process.argv.indexOf('--', 2);
    process.argv.splice(end < 0 ? process.argv.length : end, 0, flag);
    if (reports) {
      fs.appendFileSync(path.join(reports, path.basename(script) + '.heard'), '');
    }
  }
}

// Mocha takes one reporter only, so its runner's events are listened to. https://mochajs.org/api/runner
function listen(Runner) {
  const emit = Runner.prototype.emit;
  const files = new Map();
  function add(test, status, error) {
    const name = test.file || '';
    if (!files.has(name)) files.set(name, { name, status: 'passed', message: '', assertionResults: [] });
    const titles = test.titlePath();
    files.get(name).assertionResults.push({
      ancestorTitles: titles.slice(0, -1), title: titles[titles.length - 1], status, duration: test.duration,
      failureMessages: error ? [require('util').inspect(error)] : [],
    });
  }
  Runner.prototype.emit = function (event, test, error) {
    try {
      if (event === 'pass') add(test, 'passed');
      else if (event === 'fail') add(test, 'failed', error);
      else if (event === 'pending') add(test, 'pending');
      else if (event === 'end' && files.size > 0) {
        const results = [...files.values()];
        const text = JSON.stringify({ numTotalTests: results.length, numFailedTestSuites: 0, testResults: results });
        fs.writeFileSync(path.join(reports, `mocha-${process.pid}.json`), text);
      }
    } catch {} // what cannot be told is not told
    return emit.apply(this, arguments);
  };
}

if (reports && /\/mocha\/(bin\/_?mocha(\.c?js)?|lib\/cli\/cli\.js)$|\/\.bin\/_?mocha$/.test(script)) {
  const Module = require('module');
  const load = Module._load;
  Module._load = function (request) {
    const loaded = load.apply(this, arguments);
    if (/(^|\/)runner(\.js)?$/.test(request) && loaded && loaded.constants && loaded.constants.EVENT_TEST_FAIL && loaded.prototype) {
      Module._load = load;
      listen(loaded);
    }
    return loaded;
  };
}
