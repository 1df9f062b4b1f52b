/** Calls every mutation with the whole inputs, and tells which members of inputs were given. */
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
import { inNames } from '../conformance/graphql-body.ts';
import { insertRows } from '../database/rows.ts';
import { STEPS, type Step } from './whole-inputs.ts';

export const MUTATIONS = (schema.getMutationType() as GraphQLObjectType).getFields();

interface Walked {
  /** `Type.member`. */
  given: Set<string>;
  /** Mutations that were refused, or not refused, otherwise than their step says. */
  unexpected: [mutation: string, message: string | undefined][];
}

export async function walkInputs(app: TestApp): Promise<Walked> {
  const { clients, known, projectId } = await walkers(app);
  const walked: Walked = { given: new Set(), unexpected: [] };
  for (const step of STEPS) {
    const { args } = MUTATIONS[step.mutation] as GraphQLField<unknown, unknown>;
    const type = args[0]?.type as GraphQLInputType;
    const members = getNamedType(type);
    const inProject = isInputObjectType(members) && 'projectIdOrName' in members.getFields();
    const given = { ...(inProject && { projectIdOrName: projectId }), ...step.input };
    const input = inNames(type, filled(given, known));
    noteGiven(walked.given, type, input);
    const query = queryOf(step, type);
    const { data, errors } = await clients[step.as ?? 'key'].request(query, { input });
    if (!errors === !!step.isRefused) {
      walked.unexpected.push([step.mutation, errors?.[0]?.message]);
    }
    const payload = data?.[step.mutation];
    const id = payload && idIn(payload);
    if (step.gives && id) known.set(step.gives, id);
  }
  return walked;
}

async function walkers(app: TestApp) {
  const tenant = await app.tenant('walked');
  const token = await app.app.verifier.mint?.({ sub: 'guest', email: 'guest@walked.example' });
  const guest = app.client({ authorization: `Bearer ${token}` });
  const { viewer } = await guest.query('{ viewer { builder { id } } }');
  const { projectId } = tenant;
  const delivery = await insertRows(app).delivery({ projectId });
  const known = new Map([
    ['guest', viewer.builder.id as string],
    ['delivery', delivery.id],
  ]);
  return { projectId, known, clients: { key: tenant, builder: tenant.builder, guest } };
}

/** With the ids of what the payload holds. */
function queryOf({ mutation }: Step, input: GraphQLInputType): string {
  const payload = getNamedType(MUTATIONS[mutation]?.type) as GraphQLObjectType;
  const selected = Object.values(payload.getFields()).flatMap(({ name, type }) => {
    const named = getNamedType(type);
    return isObjectType(named) && named.getFields().id ? [`${name} { id }`] : [];
  });
  const selection = ['__typename', ...selected].join(' ');
  return `mutation ($input: ${input}) { ${mutation}(input: $input) { ${selection} } }`;
}

function idIn(payload: Record<string, { id?: string } | string>): string | undefined {
  const members = Object.values(payload).flatMap((one) => (typeof one === 'string' ? [] : [one]));
  return members[0]?.id;
}

function filled(input: object, known: Map<string, string>): Record<string, unknown> {
  const text = JSON.stringify(input).replaceAll(/"@(\w+)"/g, (_all, name: string) =>
    JSON.stringify(known.get(name) ?? name),
  );
  return JSON.parse(text);
}

function noteGiven(given: Set<string>, type: GraphQLInputType, value: unknown): void {
  if (Array.isArray(value)) for (const item of value) noteGiven(given, type, item);
  const named = getNamedType(type);
  if (!isInputObjectType(named) || typeof value !== 'object' || value === null) return;
  for (const [name, field] of Object.entries(named.getFields())) {
    const member = (value as Record<string, unknown>)[name];
    if (member === undefined) continue;
    given.add(`${named.name}.${name}`);
    noteGiven(given, field.type, member);
  }
}
