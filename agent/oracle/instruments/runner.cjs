// Asks jest and vitest to name every test, and says that they were heard. Nothing is changed but what is printed.
'use strict';
const fs = require('fs');
const path = require('path');

const script = (process.argv[1] || '').replace(/\\/g, '/');
const asks = [
  [/\/(jest|jest-cli)\/bin\/jest\.js$|\/\.bin\/jest$/, '--verbose'],
  [/\/vitest\/(vitest|dist\/cli)\.m?js$|\/\.bin\/vitest$/, '--reporter=verbose'],
];
for (const [tool, flag] of asks) {
  if (tool.test(script)) {
    const end = process.argv.indexOf('--', 2);
    process.argv.splice(end < 0 ? process.argv.length : end, 0, flag);
    if (process.env.REDRAFT_REPORTS) {
      fs.appendFileSync(path.join(process.env.REDRAFT_REPORTS, path.basename(script) + '.heard'), '');
    }
  }
}
