/**
 * The alert rules load, fire when they must, and name existing metrics. Each has a section in
 * docs/runbook.md.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { ROOT } from '../support/documents.ts';

interface Rule {
  alert: string;
  expr: string;
  annotations: { runbook: string };
}

const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');
const rules: Rule[] = parse(read('ops/alerts.yaml')).groups[0].rules;

const hasPromtool = spawnSync('promtool', ['--version']).status === 0;
if (!hasPromtool)
  console.warn('Whether alerts fire is not tested: promtool (of Prometheus) is not installed.');

test('the runbook has a section for every alert, and no other', () => {
  const parts = [...read('docs/runbook.md').matchAll(/^## (\w+)$/gm)].map(([, name]) => name);
  expect(rules.map(({ alert }) => alert)).toEqual(parts);
  for (const { alert, annotations } of rules) {
    expect(annotations.runbook).toBe(`docs/runbook.md#${alert.toLowerCase()}`);
  }
});

test('rules use only metrics that operations.md lists', () => {
  const documented = read('docs/operations.md');
  const metricNames = rules.flatMap(({ expr }) => expr.match(/\b(?:gateway|http|db)_\w+/g) ?? []);
  expect(metricNames.length).toBeGreaterThan(rules.length);
  for (const name of metricNames) expect(documented).toContain(`\`${name.replace(/_count$/, '')}`);
});

test.skipIf(!hasPromtool)(
  'each alert fires at its fault, and none fires during ordinary work',
  () => {
    const report = execFileSync('promtool', ['test', 'rules', 'ops/alerts.test.yaml'], {
      cwd: ROOT,
    });
    expect(report.toString()).toContain('SUCCESS');
  },
);
