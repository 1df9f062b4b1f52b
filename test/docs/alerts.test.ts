/**
 * Tests that the alert rules load, fire when they must, and name existing metrics, and that each has a section in
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

const readText = (path: string) => readFileSync(join(ROOT, path), 'utf8');
const rules: Rule[] = parse(readText('ops/alerts.yaml')).groups[0].rules;

const hasPromtool = spawnSync('promtool', ['--version']).status === 0;
if (!hasPromtool)
  console.warn(
    'The tests do not check whether alerts fire, because promtool of Prometheus is not installed.',
  );

test('has a section in the runbook for every alert, and no other section', () => {
  const sections = [...readText('docs/runbook.md').matchAll(/^## (\w+)$/gm)].map(
    ([, name]) => name,
  );
  expect(rules.map(({ alert }) => alert)).toEqual(sections);
  for (const { alert, annotations } of rules) {
    expect(annotations.runbook).toBe(`docs/runbook.md#${alert.toLowerCase()}`);
  }
});

test('uses only metrics that metrics.md lists', () => {
  const documented = readText('docs/operations/metrics.md');
  const metricNames = rules.flatMap(({ expr }) => expr.match(/\b(?:gateway|http|db)_\w+/g) ?? []);
  expect(metricNames.length).toBeGreaterThan(rules.length);
  for (const name of metricNames) expect(documented).toContain(`\`${name.replace(/_count$/, '')}`);
});

test.skipIf(!hasPromtool)('fires each alert for its fault, and none during ordinary work', () => {
  const report = execFileSync('promtool', ['test', 'rules', 'ops/alerts.test.yaml'], {
    cwd: ROOT,
  });
  expect(report.toString()).toContain('SUCCESS');
});
