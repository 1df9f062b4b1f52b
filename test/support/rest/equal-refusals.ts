/** Sends one input over GraphQL and over REST, and expects the same errors. */
import { expect } from 'vitest';
import {
  type ConfigInput,
  installationConfigInput,
} from '../../../src/domain/integrations/installation/choice/installation-config-input.ts';
import { formatPath } from '../../../src/kernel/text.ts';
import { configForm } from '../../../src/rest/integrations/installation/config/config-form.ts';
import { toGraphqlInput } from '../inputs/graphql-input.ts';
import type { RestTenant } from './rest-client.ts';
import { findPair, type Input, type Outcome, sendGraphql, sendRest } from './surface-pairs.ts';

/**
 * Returns the error that both surfaces report, with the issues at their REST paths. Fails if the surfaces
 * differ.
 */
export async function expectEqualRefusal(
  rest: RestTenant,
  name: Parameters<typeof findPair>[0],
  { config, ...input }: Input & { config?: ConfigInput },
): Promise<Outcome> {
  const pair = findPair(name);
  const inputWithProject = { projectIdOrName: rest.tenant.projectName, ...input };
  const graphqlOutcome = await sendGraphql(
    rest,
    pair,
    toGraphqlInput({ ...inputWithProject, ...(config && { config }) }),
  );
  expect(graphqlOutcome.status).toBeGreaterThanOrEqual(400);
  const wire = config && toWireConfig(config);
  const byRest = await sendRest(rest, pair, { ...inputWithProject, ...(wire && { config: wire }) });
  const byGraphql = wire ? toWirePaths(graphqlOutcome, wire) : graphqlOutcome;
  expect(byRest).toEqual(byGraphql);
  return byRest;
}

/** Returns the issues of the error, one line each. */
export async function expectEqualIssues(
  rest: RestTenant,
  name: Parameters<typeof findPair>[0],
  input: Input & { config?: ConfigInput },
): Promise<string[]> {
  const { issues } = await expectEqualRefusal(rest, name, input);
  return issues.map(([path, detail]) => `${path}: ${detail}`);
}

/** Converts a config to REST's own format. */
function toWireConfig(config: ConfigInput): object {
  const { read, ...rest } = installationConfigInput.parse(config);
  const readObjects = read.map((choice) => ({
    ...choice,
    selectedFields: choice.selectedFields ?? [],
    fieldMappings: choice.fieldMappings ?? [],
  }));
  return JSON.parse(JSON.stringify(configForm.encode({ ...rest, read: readObjects })));
}

const CONFIG_PATH = 'config.content';

/** Splits a name like `.read[0].schedule` into its parts. */
function parsePath(name: string): (string | number)[] {
  return [...name.matchAll(/\[(\d+)\]|[^.[\]]+/g)].map(([part, index]) =>
    index === undefined ? part : Number(index),
  );
}

function toWirePaths(outcome: Outcome, wire: object): Outcome {
  const issues = outcome.issues.map(([path, detail]): [string, string] => {
    const isInConfig = path.startsWith(CONFIG_PATH);
    const wirePath = isInConfig
      ? formatPath([
          CONFIG_PATH,
          ...configForm.locate(wire, parsePath(path.slice(CONFIG_PATH.length))),
        ])
      : path;
    return [wirePath, detail];
  });
  return { ...outcome, issues: issues.sort(([a], [b]) => (a < b ? -1 : 1)) };
}
