/**
 * Tests that ops/grafana-dashboard.json meets the requirements of Grafana. test/faults/operation/prometheus.test.ts
 * runs its queries.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { ROOT } from '../support/documents.ts';

const readText = (path: string) => readFileSync(join(ROOT, path), 'utf8');

const datasource = z.object({ type: z.literal('prometheus'), uid: z.literal('${datasource}') });
const gridPos = z.object({
  x: z.int().min(0).max(23),
  y: z.int().min(0),
  w: z.int().min(1).max(24),
  h: z.int().min(1),
});
const panel = z.discriminatedUnion('type', [
  z.object({ type: z.literal('row'), id: z.int(), title: z.string().min(1), gridPos }),
  z.object({
    type: z.literal('timeseries'),
    id: z.int(),
    title: z.string().min(1),
    datasource,
    gridPos,
    fieldConfig: z.object({ defaults: z.object({ unit: z.string().min(1) }) }),
    targets: z
      .array(z.object({ refId: z.string().regex(/^[A-Z]$/), datasource, expr: z.string().min(1) }))
      .min(1),
  }),
]);
const dashboard = z.object({
  uid: z.string().max(40),
  title: z.string().min(1),
  schemaVersion: z.int(),
  templating: z.object({ list: z.array(z.object({ name: z.string(), type: z.string() })) }),
  panels: z.array(panel),
});

const { panels, templating } = dashboard.parse(JSON.parse(readText('ops/grafana-dashboard.json')));

test('has panels with unique ids that do not overlap', () => {
  expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
  const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
    Array.from({ length: w * h }, (_, index) => `${x + (index % w)},${y + Math.floor(index / w)}`),
  );
  expect(new Set(cells).size).toBe(cells.length);
});

const queries = panels.flatMap((panelOrRow) => ('targets' in panelOrRow ? panelOrRow.targets : []));

test('uses only declared variables and metrics that metrics.md lists', () => {
  const documented = readText('docs/operations/metrics.md');
  const variables = [...templating.list.map(({ name }) => name), '__rate_interval'];
  for (const { expr } of queries) {
    for (const [, name] of expr.matchAll(/\$(\w+)/g)) expect(variables).toContain(name);
    for (const [name] of expr.matchAll(/\b(?:gateway|http|db)_\w+/g)) {
      expect(documented).toContain(`\`${name.replace(/_(count|bucket)$/, '')}`);
    }
  }
});

test('shows every metric that metrics.md lists', () => {
  const listedMetrics = [
    ...readText('docs/operations/metrics.md').matchAll(/`((?:gateway|http_server|db)_\w+)`/g),
  ];
  const text = queries.map(({ expr }) => expr).join('\n');
  const missingMetrics = listedMetrics
    .map(([, name = '']) => name)
    .filter((name) => !text.includes(name));
  expect([...new Set(missingMetrics)]).toEqual([]);
});
