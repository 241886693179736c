// Writes what Node's own test runner tells of each test, with its file, in the form of jest's JSON. Nothing else is changed.
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { inspect } from 'node:util';

const files = new Map(); // name -> what is told of it
const printed = new Map(); // name -> what the process of a file wrote
const open = []; // the tests that the current one lies in, by depth

function named(data) {
  const file = data.file || '';
  return file.startsWith('file://') ? fileURLToPath(file) : file;
}

function of(name) {
  if (!files.has(name)) files.set(name, { name, status: 'passed', message: '', assertionResults: [] });
  return files.get(name);
}

function ended(status, data) {
  const error = data.details && data.details.error;
  if (error && error.failureType === 'subtestsFailed') return; // they speak for themselves
  const name = named(open[0] || data);
  const whole = data.nesting === 0 && path.resolve(data.name) === name; // a file in which no test told of itself
  if (whole) {
    if (status === 'failed') Object.assign(of(name), { status, message: (printed.get(name) || []).join('') || inspect(error) });
    return;
  }
  if (data.details && data.details.type === 'suite' && status === 'passed') return;
  if (data.skip !== undefined || data.todo !== undefined) status = 'pending';
  const cause = error && error.cause !== undefined ? error.cause : error;
  of(name).assertionResults.push({
    ancestorTitles: open.slice(0, data.nesting).map((d) => d.name), title: data.name, status, duration: data.details && data.details.duration_ms,
    failureMessages: status === 'failed' ? [inspect(cause)] : [],
  });
}

export default async function* (events) {
  for await (const { type, data } of events) {
    if (type === 'test:start') {
      open.length = Math.min(open.length, data.nesting);
      open[data.nesting] = data;
    } else if (type === 'test:pass' || type === 'test:fail') {
      ended(type === 'test:pass' ? 'passed' : 'failed', data);
    } else if (type === 'test:stderr' || type === 'test:stdout') {
      const name = path.resolve(named(data));
      printed.set(name, [...(printed.get(name) || []), data.message]);
    }
  }
  const results = [...files.values()];
  if (process.env.REDRAFT_REPORTS && results.length > 0) {
    const text = JSON.stringify({ numTotalTests: results.reduce((n, f) => n + f.assertionResults.length, 0), numFailedTestSuites: 0, testResults: results });
    fs.writeFileSync(path.join(process.env.REDRAFT_REPORTS, `node-test-${process.pid}.json`), text);
  }
  yield '';
}
