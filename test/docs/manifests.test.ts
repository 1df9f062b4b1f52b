/**
 * Tests that the Dockerfile, compose.yaml and the Kubernetes manifests pass their linters and use existing settings.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DCLinter } from 'dclint';
import { validate } from 'dockerfile-utils';
import { StatefulSet } from 'kubernetes-models/apps/v1/StatefulSet';
import { PodDisruptionBudget } from 'kubernetes-models/policy/v1/PodDisruptionBudget';
import { ConfigMap } from 'kubernetes-models/v1/ConfigMap';
import { Service } from 'kubernetes-models/v1/Service';
import { expect, test } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { z } from 'zod';
import { environment, readConfig } from '../../src/settings/config.ts';
import { ROOT } from '../support/documents.ts';

const MANIFEST_FOLDER = join(ROOT, 'ops', 'kubernetes');
const KINDS = { ConfigMap, PodDisruptionBudget, Service, StatefulSet };
const KEY = Buffer.alloc(32).toString('base64');
const SECRETS = { DATABASE_URL: 'postgresql://a:b@c/d', ENCRYPTION_KEY: KEY };
/** The time that a process may need to exit after SHUTDOWN_MS. */
const MARGIN_MS = 5_000;

const namedSchema = z.object({
  kind: z.enum(['ConfigMap', 'PodDisruptionBudget', 'Service', 'StatefulSet']),
});
const files = readdirSync(MANIFEST_FOLDER).filter((name) => name !== 'kustomization.yaml');
const manifests = files.flatMap((name) =>
  parseAllDocuments(readFileSync(join(MANIFEST_FOLDER, name), 'utf8'), { merge: true }).map(
    (document) => ({
      name,
      manifest: document.toJS() as Record<string, unknown>,
    }),
  ),
);

const settings = z.record(z.string(), z.string());
const compose = z
  .object({
    services: z.record(
      z.string(),
      z.object({
        build: z.unknown().optional(),
        environment: settings.optional(),
        stop_grace_period: z.string().optional(),
      }),
    ),
    networks: z.object({
      default: z.object({
        ipam: z.object({ config: z.array(z.object({ subnet: z.string() })).length(1) }),
      }),
    }),
  })
  .parse(parse(readFileSync(join(ROOT, 'ops', 'compose.yaml'), 'utf8'), { merge: true }));
const gateways = Object.values(compose.services).filter(({ build }) => build);

/** Replaces variables as docker compose does. */
function fillVariables(variables: Record<string, string>): Record<string, string> {
  const fillText = (text: string) =>
    text.replace(/\$\{(\w+)(?::([-?])([^}]*))?\}/g, (_, name, sign, fallback) =>
      sign === '-' ? fallback : name === 'ENCRYPTION_KEY' ? KEY : 'given',
    );
  return Object.fromEntries(
    Object.entries(variables).map(([name, text]) => [name, fillText(text)]),
  );
}

const listUnknownSettings = (variables: object) =>
  Object.keys(variables).filter((name) => !(name in environment.shape));

/** Rules about the order of members, which are off because compose.yaml has the settings first. */
const ORDER_RULES = { 'service-keys-order': 0, 'top-level-properties-order': 0 } as const;
const findings = z.array(
  z.object({ messages: z.array(z.object({ rule: z.string(), line: z.number() })) }),
);

test('has a Dockerfile without findings', () => {
  expect(validate(readFileSync(join(ROOT, 'Dockerfile'), 'utf8'))).toEqual([]);
});

test('has a compose.yaml without findings, and with two processes of each role', () => {
  const linter = new DCLinter({ rules: ORDER_RULES, quiet: false, debug: false, exclude: [] });
  const report = findings.parse(linter.lintFiles([join(ROOT, 'ops', 'compose.yaml')], false));
  expect(report.flatMap(({ messages }) => messages)).toEqual([]);
  const roles = gateways.map(({ environment: env = {} }) => env.ROLES);
  expect(roles.toSorted()).toEqual(['api', 'api', 'worker', 'worker']);
});

test('gives the processes of compose.yaml valid settings and time to stop', () => {
  for (const { environment: env = {}, stop_grace_period: grace } of gateways) {
    expect(listUnknownSettings(env)).toEqual([]);
    const config = readConfig(fillVariables(env));
    const endMs = config.DRAIN_MS + config.SHUTDOWN_MS + MARGIN_MS;
    expect(Number(grace?.replace('s', '')) * 1_000).toBeGreaterThanOrEqual(endMs);
  }
});

test('trusts the header of the proxy, in compose.yaml and in Kubernetes', () => {
  const [network] = compose.networks.default.ipam.config;
  for (const { environment: env = {} } of gateways) {
    expect(env.TRUSTED_PROXIES).toBe(network?.subnet);
  }
  const configMap = manifests.find(({ manifest }) => manifest.kind === 'ConfigMap')?.manifest;
  expect(configMap).toMatchObject({ data: { TRUSTED_PROXIES: expect.any(String) } });
});

test('configures Prometheus for each process of compose.yaml, and HAProxy for those with the API', () => {
  const prometheus = readFileSync(join(ROOT, 'ops', 'prometheus.yaml'), 'utf8');
  const balancer = readFileSync(join(ROOT, 'ops', 'haproxy.cfg'), 'utf8');
  for (const [name, { environment: env }] of Object.entries(compose.services)) {
    if (!env?.ROLES) continue;
    expect(prometheus).toContain(`"${name}:${env.METRICS_PORT}"`);
    expect(balancer.includes(` ${name}:4000\n`)).toBe(env.ROLES === 'api');
  }
});

test('has manifests that are valid for Kubernetes, and a kustomization that lists all of them', () => {
  for (const { manifest } of manifests) {
    const { kind } = namedSchema.parse(manifest);
    expect(() => new KINDS[kind](manifest as never).validate()).not.toThrow();
  }
  const { resources } = parse(readFileSync(join(MANIFEST_FOLDER, 'kustomization.yaml'), 'utf8'));
  expect(resources.toSorted()).toEqual(files.toSorted());
});

const statefulSet = z.object({
  metadata: z.object({ name: z.string() }),
  spec: z.object({
    replicas: z.number(),
    selector: z.object({ matchLabels: settings }),
    template: z.object({
      metadata: z.object({ labels: settings }),
      spec: z.object({
        terminationGracePeriodSeconds: z.number(),
        containers: z
          .array(
            z.object({
              env: z.array(z.object({ name: z.string(), value: z.string().optional() })),
              securityContext: z.object({ readOnlyRootFilesystem: z.literal(true) }),
              readinessProbe: z.object({
                httpGet: z.object({ path: z.literal('/readyz') }),
                periodSeconds: z.number(),
                failureThreshold: z.number(),
              }),
              livenessProbe: z.object({ httpGet: z.object({ path: z.literal('/livez') }) }),
            }),
          )
          .length(1),
      }),
    }),
  }),
});

test('gives pods valid settings, and time to drain until their readiness probe fails', () => {
  const { data } = z
    .object({ data: settings })
    .parse(manifests.find(({ manifest }) => manifest.kind === 'ConfigMap')?.manifest);
  const statefulSets = manifests.filter(({ manifest }) => manifest.kind === 'StatefulSet');
  expect(statefulSets).toHaveLength(2);
  for (const { manifest } of statefulSets) {
    const { spec } = statefulSet.parse(manifest);
    expect(spec.replicas).toBe(2);
    expect(spec.template.metadata.labels).toEqual(spec.selector.matchLabels);
    const { containers, terminationGracePeriodSeconds } = spec.template.spec;
    for (const { env, readinessProbe } of containers) {
      const podEnv = Object.fromEntries(env.map(({ name, value = '127.0.0.1' }) => [name, value]));
      const podSettings = { ...data, ...podEnv, ...SECRETS };
      expect(listUnknownSettings(podSettings)).toEqual([]);
      const { DRAIN_MS, SHUTDOWN_MS } = readConfig(podSettings);
      const noticedMs = readinessProbe.periodSeconds * readinessProbe.failureThreshold * 1_000;
      expect(DRAIN_MS).toBeGreaterThan(noticedMs);
      expect(terminationGracePeriodSeconds * 1_000).toBeGreaterThanOrEqual(
        DRAIN_MS + SHUTDOWN_MS + MARGIN_MS,
      );
    }
  }
});
