/** Creates or updates all integrations of a manifest in one transaction. Existing integrations get a new revision. */

import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { anyOf, run, statements } from '../../../database/statements/statements.ts';
import type { Row } from '../../../database/statements/tables.ts';
import { inTransaction, type Transaction } from '../../../database/transactions/transaction.ts';
import type { Issue } from '../../../kernel/errors.ts';
import { nameInput, type Text } from '../../../kernel/text.ts';
import type { ProjectCall } from '../../access/call.ts';
import { projectMutation } from '../../access/declared-mutation.ts';
import { requireUnique } from '../../access/row-changes.ts';
import { addIssues, checkRules, createRuleIssue, requireNoIssues } from '../../base/issues.ts';
import { integrationName, projectIdOrName } from '../../base/names.ts';
import { listRepeatedIndexes } from '../../base/repeats.ts';
import { listProviderIssues } from '../../connections/provider/provider-app-input.ts';
import type { Impact } from '../installation/check/impacts.ts';
import { describeTakenNames, insertIntegration } from './integration.ts';
import { readIntegrationContent } from './integration-content.ts';
import { listContentIssues } from './integration-content-check.ts';
import { integrationContentInput, specVersion } from './integration-content-input.ts';
import { normalizeContent } from './normalized-content.ts';
import { destructiveInput, listImpacts, revise } from './revision.ts';

type Integration = Row<'Integration'>;
type Input = z.output<typeof upsertIntegrationsInput>;
type Content = Input['integrations'][number];

/** The maximum number of integrations in one transaction. */
const INTEGRATIONS_MAX = 50;

const upsertIntegrationsInput = z
  .object({
    projectIdOrName,
    specVersion,
    integrations: z
      .array(integrationContentInput)
      .min(1)
      .max(INTEGRATIONS_MAX)
      .describe(
        'The integrations to create or update: 1 to 50, with unique names. Integrations that are not listed are left unchanged.',
      ),
    destructive: destructiveInput,
  })
  .superRefine(checkRules(({ integrations }) => listNameIssues(integrations)))
  .meta({
    id: 'UpsertIntegrationsInput',
    description: 'Integrations to create, and new revisions of existing integrations.',
  });

interface UpsertedIntegrations {
  /** In the order of the input. */
  integrations: Integration[];
  warnings: Text[];
  /** The installations that the new revisions break. */
  impacts: Impact[];
}

export const upsertIntegrations = projectMutation({
  description:
    'Creates integrations, and new revisions of existing integrations: all of them or none. Content that is already active creates no revision.',
  needs: 'integrations:write',
  input: upsertIntegrationsInput,
  run(call, input, { id: projectId }): Promise<UpsertedIntegrations> {
    const names = input.integrations.map(({ name }) => name);
    const upsert = inTransaction(call.database, async (tx) => {
      const integrationsByName = await lockExistingIntegrations(tx, projectId, names);
      const issues: Issue[] = [];
      for (const [index, content] of input.integrations.entries()) {
        const { name } = content;
        const path = ['integrations', index];
        const storedProvider = integrationsByName.get(name)?.provider;
        const provider = storedProvider ?? content.provider;
        const context = { projectId, path, name, provider };
        if (storedProvider === undefined) {
          addIssues(issues, listProviderIssues(call, provider, [...path, 'provider']));
        }
        addIssues(issues, await listContentIssues({ ...call, tx }, content, context));
      }
      requireNoIssues(issues);
      return upsertContents(call, tx, { projectId, input, integrationsByName });
    });
    return requireUnique(upsert, describeTakenNames(`one of ${names.join(', ')}`));
  },
});

/** Locks the existing integrations and returns them by name. The order of the locks prevents deadlocks. */
async function lockExistingIntegrations(
  tx: Transaction,
  projectId: string,
  names: string[],
): Promise<Map<string, Integration>> {
  const query = statements
    .selectFrom('Integration')
    .selectAll()
    .where('projectId', '=', projectId)
    .where('name', '=', anyOf(names))
    .orderBy('id')
    .forUpdate();
  const integrations = await run(tx, query);
  return new Map(integrations.map((integration) => [integration.name, integration]));
}

function* listNameIssues(contents: readonly { name: string }[]) {
  const names = contents.map(({ name }) => name.toLowerCase());
  const repeatedIndexes = new Set(listRepeatedIndexes(names));
  const options = { showsValue: true };
  for (const [index, { name }] of contents.entries()) {
    const path = ['integrations', index, 'name'];
    if (repeatedIndexes.has(index)) {
      const message = 'appears more than once. Names are unique regardless of case.';
      yield createRuleIssue(path, message, options);
    }
    const { error } = integrationName.safeParse(name);
    if (error) {
      const message = error.issues[0]?.message ?? 'is not a valid name.';
      yield createRuleIssue(path, message, options);
    }
  }
}

interface UpsertInput {
  projectId: string;
  input: Input;
  integrationsByName: ReadonlyMap<string, Integration>;
}

async function upsertContents(
  call: ProjectCall,
  tx: Transaction,
  { projectId, input, integrationsByName }: UpsertInput,
): Promise<UpsertedIntegrations> {
  const { specVersion, destructive } = input;
  const storedIntegrations: Integration[] = [];
  const warnings: Text[] = [];
  const impacts: Impact[] = [];
  for (const [index, parsedContent] of input.integrations.entries()) {
    const path = ['integrations', index];
    const normalizedContent = normalizeContent(call, parsedContent, path);
    warnings.push(...normalizedContent.warnings);
    const { content } = normalizedContent;
    const { name, provider } = content;
    const integration = integrationsByName.get(name);
    const revision = { specVersion, content };
    if (!integration) {
      storedIntegrations.push(
        await insertIntegration(tx, projectId, { name, provider, latestRevision: revision }),
      );
    } else if (await isLatestContent(tx, integration, content)) {
      storedIntegrations.push(integration);
    } else {
      const revisedIntegration = await revise(call, tx, { integration, revision, destructive });
      storedIntegrations.push(revisedIntegration.integration);
      impacts.push(...(await listImpacts(call, tx, revisedIntegration)));
    }
  }
  const inputName = upsertIntegrationsInput.meta()?.id;
  return {
    integrations: storedIntegrations,
    warnings: warnings.map((warning) => nameInput(warning, inputName)),
    impacts,
  };
}

async function isLatestContent(
  tx: Transaction,
  { projectId, latestRevisionId: id }: Integration,
  content: Content,
): Promise<boolean> {
  const latestRevision = await tx.revision.findUniqueOrThrow({
    where: { projectId_id: { projectId, id } },
  });
  return isDeepStrictEqual(readIntegrationContent(latestRevision), content);
}
