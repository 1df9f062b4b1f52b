/** Exports a project as a document, and plans the changes that a document makes to a project. */

import {
  buildSchema,
  findBreakingChanges,
  findDangerousChanges,
  type GraphQLSchema,
  isObjectType,
} from 'graphql';
import { z } from 'zod';
import type { Row } from '../../database/statements/tables.ts';
import { inTransaction, type Transaction } from '../../database/transactions/transaction.ts';
import type { Issue } from '../../kernel/errors.ts';
import { id, newId } from '../../kernel/ids.ts';
import { nameInput } from '../../kernel/text.ts';
import { DAY_MS } from '../../work/durations.ts';
import type { Call, ProjectCall } from '../access/call.ts';
import { projectMutation } from '../access/declared-mutation.ts';
import { projectRead } from '../access/declared-read.ts';
import { getProjectRow } from '../access/scope.ts';
import { orDefault, orElse } from '../base/input-schemas.ts';
import { addIssues } from '../base/issues.ts';
import { projectIdOrName } from '../base/names.ts';
import { computed, createdInProject, enumeration, resource } from '../base/resource.ts';
import { castJsonColumn } from '../base/storable-json.ts';
import { formatGraphqlSdl } from '../data/contract/formats/graphql-sdl.ts';
import { createContractsOfContents } from '../data/contract/read-contract.ts';
import { type Impact, impactResource } from '../integrations/installation/check/impacts.ts';
import { DOCUMENT_LENGTH_MAX } from '../integrations/integration/manifest/manifest-text.ts';
import { createDesiredState, renameInput } from './desired-state.ts';
import {
  createLocatedError,
  type DocumentText,
  documentFormat,
  formatDocument,
  parseDocument,
} from './document-text.ts';
import { type Finding, findingResource } from './findings.ts';
import { hashValue } from './items.ts';
import {
  compareWithDocument,
  listContentsAfter,
  listDocumentIssues,
  type PlanChange,
  planChangeResource,
  toCanonicalDocument,
} from './plan-changes.ts';
import { createReport, listRequiredSecrets } from './plan-report.ts';
import { type PlannedProviders, planProviders } from './planned-providers.ts';
import { type ProjectState, readProjectState } from './project-state.ts';

const contractChangeSeverity = enumeration(
  'ContractChangeSeverity',
  'The effect of a change of the contract on code that uses it.',
  {
    BREAKING: 'Code that compiled before may no longer compile or run.',
    DANGEROUS: 'Code still compiles, and may behave differently.',
    SAFE: 'Code is not affected.',
  },
);

const contractChangeResource = resource(
  'ContractChange',
  "A change of the project's contract, found by comparing its GraphQL types before and after the plan.",
  {
    severity: contractChangeSeverity.describe('The effect on code that uses the contract.'),
    message: z.string().describe('The change, like `ContactsRecord.tier was removed.`'),
  },
);
type ContractChange = z.output<typeof contractChangeResource>;

/** Lists the changes of the contract, the most severe first. Returns none if the plan changes no integration and no provider. */
async function listContractChanges(
  call: ProjectCall,
  {
    state,
    changes,
    providers,
  }: { state: ProjectState; changes: readonly PlanChange[]; providers: PlannedProviders },
): Promise<ContractChange[]> {
  if (!changes.some(({ kind }) => kind === 'INTEGRATION' || kind === 'CUSTOM_PROVIDER')) return [];
  const contracts = await createContractsOfContents(call, state.projectId, [
    { contents: listContentsAfter(state, []), catalog: call.catalog },
    { contents: listContentsAfter(state, changes), catalog: providers.catalog },
  ]);
  const [before, after] = contracts.map((contract) => buildSchema(formatGraphqlSdl(contract))) as [
    GraphQLSchema,
    GraphQLSchema,
  ];
  const toContractChanges = (
    severity: ContractChange['severity'],
    schemaChanges: { description: string }[],
  ) => schemaChanges.map(({ description }) => ({ severity, message: description }));
  return [
    ...toContractChanges('BREAKING', findBreakingChanges(before, after)),
    ...toContractChanges('DANGEROUS', findDangerousChanges(before, after)),
    ...toContractChanges('SAFE', listAdditions(before, after)),
  ];
}

/** Finds new types and fields of records. `findDangerousChanges` finds new members of inputs. */
function listAdditions(before: GraphQLSchema, after: GraphQLSchema): { description: string }[] {
  const types = Object.values(after.getTypeMap()).filter(isObjectType);
  const newTypes = types.filter(({ name }) => !before.getType(name));
  const newFields = types.flatMap((type) => {
    const previous = before.getType(type.name);
    if (!isObjectType(previous)) return [];
    const previousFields = previous.getFields();
    return Object.keys(type.getFields())
      .filter((name) => !previousFields[name])
      .map((name) => `${type.name}.${name}`);
  });
  return [...newTypes.map(({ name }) => name), ...newFields].map((name) => ({
    description: `${name} was added.`,
  }));
}

export type Plan = Row<'Plan'>;

export const planResource = resource(
  'Plan',
  'The changes that a document makes to a project, with the installations that they break. A plan changes nothing until it is applied.',
  {
    ...createdInProject,
    hash: z.string().describe('Hash of the base and the changes. Equal plans have equal hashes.'),
    baseHash: z
      .string()
      .describe('Hash of the project when the plan was computed, as `exportProject` returns it.'),
    allowDeletions: z
      .boolean()
      .describe('Whether the plan deletes items that the document does not have.'),
    changes: computed(
      z.array(planChangeResource).describe('The changes, sorted by path.'),
      (plan: Plan) => readPlanLists(plan).changes,
    ),
    contractChanges: computed(
      z
        .array(contractChangeResource)
        .describe("The changes of the project's contract, the most severe first."),
      (plan: Plan) => readPlanLists(plan).contractChanges,
    ),
    impacts: computed(
      z
        .array(impactResource)
        .describe('The installations that the changes break, by integration and reason.'),
      (plan: Plan) => readPlanLists(plan).impacts,
    ),
    findings: computed(
      z
        .array(findingResource)
        .describe('Reasons that prevent the plan from being applied, or need attention.'),
      (plan: Plan) => readPlanLists(plan).findings,
    ),
    requiredSecrets: z
      .array(z.string())
      .describe(
        'Paths of the values that `applyPlan` needs in `secrets`, like `destinations.records.headers.authorization`.',
      ),
    expireTime: z.date().describe('When the plan is deleted: 24 hours after it was computed.'),
    applyTime: z.date().nullable().describe('When the plan was applied. {Null} if it was not.'),
  },
);

/** How long a plan can be reviewed and applied. */
const LIFETIME_MS = DAY_MS;
/** The maximum number of unapplied plans of a project. A new plan replaces the oldest one. */
const PLANS_MAX = 20;
const RENAMES_MAX = 200;

const planProjectInput = z
  .object({
    projectIdOrName,
    document: z
      .string()
      .min(1)
      .max(DOCUMENT_LENGTH_MAX)
      .describe('The project document as YAML or JSON text, at most 524,288 characters.'),
    allowDeletions: orDefault(z.boolean(), false).describe(
      'If true, the plan deletes what the document does not have, in the sections that it has, pauses reads of objects that it drops, and replaces documents of custom providers although that breaks integrations or suspends connections. Default: false.',
    ),
    renames: orElse(z.array(renameInput).max(RENAMES_MAX), []).describe(
      'Names that differ between the document and the project, at most 200. Default: none.',
    ),
  })
  .meta({ id: 'PlanProjectInput', description: 'The document to plan for a project.' });

export const planId = id.describe('The id of the plan.');

export const exportProjectInput = z.object({
  projectIdOrName,
  format: orDefault(documentFormat, 'YAML').describe('The format of the text. Default: YAML.'),
});

export const projectExportResource = resource(
  'ProjectExport',
  'A project as a document, without secrets.',
  {
    document: z.string().describe('The document as text. Equal projects have equal documents.'),
    hash: z.string().describe('Hash of the document, equal in every format.'),
  },
);

export const exportProject = projectRead(
  'read',
  'Gets a project as a document, in YAML or JSON. The document has the appearance, origins, JWT keys, custom providers, destinations, topics, routes and integrations, without ids and secrets. Equal projects have equal documents.',
  async (
    { database },
    { format }: Pick<z.output<typeof exportProjectInput>, 'format'>,
    { id: projectId },
  ): Promise<{ document: string; hash: string }> => {
    const { document } = await readProjectState(database.prisma, projectId);
    return { document: formatDocument(document, format), hash: hashValue(document) };
  },
);

/** Throws NOT_FOUND if the project has no such plan. */
export const getPlan = projectRead(
  'read',
  'Gets a plan.',
  (call, { planId: id }: { planId: string }, { id: projectId }): Promise<Plan> =>
    getProjectRow(call, 'Plan', { projectId, id, noun: 'Plan' }),
);

/**
 * Computes and stores a plan, and changes nothing else. Throws BAD_USER_INPUT that names every issue of the document.
 */
export const planProject = projectMutation({
  description:
    'Plans the changes that a document makes to a project. The plan names the installations that the changes break. It is stored for 24 hours and changes nothing else.',
  needs: 'read',
  input: planProjectInput,
  async run(call, input, { id: projectId }): Promise<Plan> {
    const source = { projectId, path: ['document'], text: input.document };
    const document = await parseDocument(call, source);
    const state = await readProjectState(call.database.prisma, projectId);
    const desiredState = createDesiredState(document, input, state);
    const providers = await planProviders(call, desiredState, state);
    await refuseDocumentIssues(call, source, providers.issues);
    const plannedCall = { ...call, catalog: providers.catalog };
    await refuseDocumentIssues(call, source, listDocumentIssues(plannedCall, desiredState, state));
    const { canonicalDocument, warnings } = toCanonicalDocument(plannedCall, desiredState);
    const comparison = compareWithDocument(state, canonicalDocument, desiredState);
    const report = await createReport(call, { state, desiredState, comparison, providers });
    const base = hashItems(state);
    const { changes } = comparison;
    return storePlan(call, {
      projectId,
      hash: hashValue([base, changes]),
      baseHash: hashValue(state.document),
      base,
      allowDeletions: input.allowDeletions,
      changes,
      contractChanges: await listContractChanges(call, { state, changes, providers }),
      impacts: report.impacts,
      findings: [
        ...report.findings.map(({ message, ...finding }) => ({
          ...finding,
          message: nameInput(message, planProjectInput.meta()?.id),
        })),
        ...warnings.map((message): Finding => ({ severity: 'WARNING', path: '', message })),
      ],
      requiredSecrets: listRequiredSecrets(changes),
    });
  },
});

/** Reads the lists of a stored plan. */
export function readPlanLists({ changes, contractChanges, impacts, findings }: Plan): {
  changes: PlanChange[];
  contractChanges: ContractChange[];
  impacts: Impact[];
  findings: Finding[];
} {
  return {
    changes: castJsonColumn(changes),
    contractChanges: castJsonColumn(contractChanges),
    impacts: castJsonColumn(impacts),
    findings: castJsonColumn(findings),
  };
}

/** Returns the hashes of a project's items by path. */
export function hashItems({ items }: Pick<ProjectState, 'items'>): Record<string, string> {
  return Object.fromEntries([...items.values()].map(({ path, value }) => [path, hashValue(value)]));
}

/** Throws BAD_USER_INPUT with the positions of the issues in the document, if there are any. */
async function refuseDocumentIssues(
  call: Call,
  source: DocumentText,
  documentIssues: Iterable<Issue>,
): Promise<void> {
  const issues: Issue[] = [];
  addIssues(issues, documentIssues);
  if (issues.length > 0) throw await createLocatedError(call, source, issues);
}

type JsonColumn = 'base' | 'changes' | 'contractChanges' | 'impacts' | 'findings';

async function storePlan(
  call: Pick<Call, 'database' | 'now'>,
  {
    projectId,
    ...plan
  }: Pick<Plan, 'projectId' | 'hash' | 'baseHash' | 'allowDeletions' | 'requiredSecrets'> & {
    base: object;
    changes: PlanChange[];
    contractChanges: ContractChange[];
    impacts: Impact[];
    findings: Finding[];
  },
): Promise<Plan> {
  const expireTime = new Date(call.now().getTime() + LIFETIME_MS);
  const columns = plan as typeof plan & Record<JsonColumn, object[]>;
  return inTransaction(call.database, async (tx) => {
    await removeOldestPlans(tx, projectId);
    return tx.plan.create({ data: { id: newId('pln'), projectId, ...columns, expireTime } });
  });
}

async function removeOldestPlans(tx: Transaction, projectId: string): Promise<void> {
  const surplusPlans = await tx.plan.findMany({
    where: { projectId, applyTime: null },
    orderBy: { id: 'desc' },
    skip: PLANS_MAX - 1,
    select: { id: true },
  });
  if (surplusPlans.length === 0) return;
  await tx.plan.deleteMany({
    where: { projectId, id: { in: surplusPlans.map((plan) => plan.id) } },
  });
}
