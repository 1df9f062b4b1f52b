/** Calls every mutation with inputs that have every member, and returns the members that were sent. */
import {
  type GraphQLField,
  type GraphQLInputType,
  type GraphQLObjectType,
  getNamedType,
  isInputObjectType,
  isObjectType,
} from 'graphql';
import { schema } from '../../../src/graphql/schema/schema.ts';
import type { TestApp } from '../app.ts';
import { toEnumNames } from '../conformance/graphql-body.ts';
import { insertRows } from '../database/insert-rows.ts';
import { STEPS, type Step } from './whole-inputs.ts';

export const MUTATIONS = (schema.getMutationType() as GraphQLObjectType).getFields();

interface WalkResult {
  /** `Type.member` of each member that was sent. */
  sent: Set<string>;
  /** Mutations whose success or failure differs from what their step expects. */
  unexpectedOutcomes: [mutation: string, message: string | undefined][];
}

export async function walkInputs(app: TestApp): Promise<WalkResult> {
  const { clients, idsByName, projectId } = await createCallers(app);
  const result: WalkResult = { sent: new Set(), unexpectedOutcomes: [] };
  for (const step of STEPS) {
    const { args } = MUTATIONS[step.mutation] as GraphQLField<unknown, unknown>;
    const type = args[0]?.type as GraphQLInputType;
    const members = getNamedType(type);
    const inProject = isInputObjectType(members) && 'projectIdOrName' in members.getFields();
    const inputWithProject = { ...(inProject && { projectIdOrName: projectId }), ...step.input };
    const input = toEnumNames(type, fillPlaceholders(inputWithProject, idsByName));
    addSentMembers(result.sent, type, input);
    const query = buildMutation(step, type);
    const { data, errors } = await clients[step.caller ?? 'key'].request(query, { input });
    if (!errors === !!step.refusalReason) {
      result.unexpectedOutcomes.push([step.mutation, errors?.[0]?.message]);
    }
    const payload = data?.[step.mutation];
    const id = payload && findId(payload);
    if (step.resultName && id) idsByName.set(step.resultName, id);
  }
  return result;
}

async function createCallers(app: TestApp) {
  const tenant = await app.createTenant('walked');
  const token = await app.app.verifier.mint?.({ sub: 'guest', email: 'guest@walked.example' });
  const guest = app.createClient({ authorization: `Bearer ${token}` });
  const { viewer } = await guest.query('{ viewer { builder { id } } }');
  const { projectId } = tenant;
  const delivery = await insertRows(app).delivery({ projectId });
  const idsByName = new Map([
    ['guest', viewer.builder.id as string],
    ['delivery', delivery.id],
  ]);
  return {
    projectId,
    idsByName,
    clients: { key: tenant, builder: tenant.builder, guest },
  };
}

/** Selects the IDs of the objects in the payload. */
function buildMutation({ mutation }: Step, input: GraphQLInputType): string {
  const payload = getNamedType(MUTATIONS[mutation]?.type) as GraphQLObjectType;
  const selections = Object.values(payload.getFields()).flatMap(({ name, type }) => {
    const namedType = getNamedType(type);
    return isObjectType(namedType) && namedType.getFields().id ? [`${name} { id }`] : [];
  });
  const selection = ['__typename', ...selections].join(' ');
  return `mutation RunMutation($input: ${input}) { ${mutation}(input: $input) { ${selection} } }`;
}

function findId(payload: Record<string, { id?: string } | string>): string | undefined {
  const members = Object.values(payload).flatMap((member) =>
    typeof member === 'string' ? [] : [member],
  );
  return members[0]?.id;
}

function fillPlaceholders(input: object, idsByName: Map<string, string>): Record<string, unknown> {
  const text = JSON.stringify(input).replaceAll(/"@(\w+)"/g, (_all, name: string) =>
    JSON.stringify(idsByName.get(name) ?? name),
  );
  return JSON.parse(text);
}

function addSentMembers(sentMembers: Set<string>, type: GraphQLInputType, value: unknown): void {
  if (Array.isArray(value)) for (const item of value) addSentMembers(sentMembers, type, item);
  const namedType = getNamedType(type);
  if (!isInputObjectType(namedType) || typeof value !== 'object' || value === null) return;
  for (const [name, field] of Object.entries(namedType.getFields())) {
    const member = (value as Record<string, unknown>)[name];
    if (member === undefined) continue;
    sentMembers.add(`${namedType.name}.${name}`);
    addSentMembers(sentMembers, field.type, member);
  }
}
