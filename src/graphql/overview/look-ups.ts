/** The fields of a project that find an object by its id or by the builder's name for it. */
import type { ObjectRef } from '@pothos/core';
import type { RefineConstraint } from '@pothos/plugin-zod';
import { z } from 'zod';
import type { Read } from '../../domain/access/declared-read.ts';
import type { ProjectTable, Row } from '../../domain/access/scope.ts';
import { ref } from '../../domain/base/names.ts';
import { integrationIdOrName } from '../../domain/integrations/integration/integration.ts';
import {
  lookUpConnection,
  lookUpConsumer,
  lookUpDestination,
  lookUpGroup,
  lookUpInstallation,
  lookUpProviderApp,
  lookUpTopic,
} from '../../domain/overview/look-ups.ts';
import { id } from '../../kernel/ids.ts';
import type { Context } from '../execution/context.ts';
import { describeField } from '../schema/fields.ts';
import { createArgs } from '../schema/inputs.ts';
import { builder, type Types } from '../schema/schema-builder.ts';
import {
  ConnectedAccount,
  Consumer,
  Destination,
  Group,
  Installation,
  Project,
  ProviderApp,
  Topic,
} from '../schema/types.ts';

/** Sets of arguments, of which a query must use exactly one. A `?` marks an optional argument. */
type ArgumentSets = readonly (readonly string[])[];

const CONNECTION_ARGUMENT_SETS: ArgumentSets = [['id'], ['provider', 'groupRef', 'consumerRef?']];
const INSTALLATION_ARGUMENT_SETS: ArgumentSets = [['id'], ['integrationIdOrName', 'groupRef']];
const PROVIDER_APP_ARGUMENT_SETS: ArgumentSets = [['id'], ['provider']];

/** Requires the arguments of exactly one set. Tests that walk the schema read `extensions.argumentSets`. */
function createArgumentSetOptions(argumentSets: ArgumentSets) {
  const [firstSet = '', ...otherSets] = argumentSets.map((names) =>
    names.filter((name) => !name.endsWith('?')).join(' and '),
  );
  return {
    extensions: { argumentSets },
    validate: {
      refine: [
        (args: object) => matchesOneSet(argumentSets, args),
        {
          message: `is required, or instead ${otherSets.join(', or ')}, but not both.`,
          path: [firstSet],
        },
      ] as RefineConstraint<object>,
    },
  };
}

function matchesOneSet(argumentSets: ArgumentSets, args: object): boolean {
  const names = Object.entries(args).flatMap(([name, value]) => (value == null ? [] : [name]));
  return argumentSets.some(
    (set) =>
      set.every((name) => name.endsWith('?') || names.includes(name)) &&
      names.every((name) => set.includes(name) || set.includes(`${name}?`)),
  );
}

const createNameSchema = (noun: string) =>
  z.string().min(1).max(64).describe(`The id or the name of the ${noun}.`);
const createRefSchema = (noun: string) =>
  ref.describe(`The id of the ${noun}, or the builder's own id of it.`);
const groupRef = ref.nullish().describe("The builder's own id of the group.");
const createIdSchema = (noun: string) =>
  id.nullish().describe(`The id of the ${noun}. Cannot be combined with other arguments.`);
const createProviderSchema = (description: string) =>
  z.string().max(128).nullish().describe(description);

/** Creates a field that finds an object by one argument. */
function createSingleArgumentField<T extends ProjectTable>(
  t: ProjectFields,
  type: ObjectRef<Types, Row<T>>,
  { find, arg: [name, schema] }: SingleArgumentFieldOptions<T>,
) {
  return t.field({
    ...describeField(find),
    type,
    nullable: true,
    args: createArgs(t.arg, z.object({ [name]: schema })),
    resolve: (project, args, { call }) => find(call, project, args[name] as string) as never,
  });
}

/** Creates a field that finds an object by one of several sets of arguments. */
function createArgumentSetField<T extends ProjectTable, S extends z.ZodObject>(
  t: ProjectFields,
  type: ObjectRef<Types, Row<T>>,
  { find, argumentSets, args }: ArgumentSetFieldOptions<T, S>,
) {
  const { extensions, validate } = createArgumentSetOptions(argumentSets);
  const { description, extensions: needs } = describeField(find);
  return t.field({
    description,
    extensions: { ...needs, ...extensions },
    type,
    nullable: true,
    args: createArgs(t.arg, args),
    validate,
    resolve: (project: Row<'Project'>, fieldArgs: object, { call }: Context) =>
      find(call, project, fieldArgs as z.output<S>),
  } as never);
}

type ProjectFields = PothosSchemaTypes.ObjectFieldBuilder<Types, Row<'Project'>>;
type Find<A, T extends ProjectTable> = Read<
  [project: Row<'Project'>, args: A],
  Promise<Row<T> | null>
>;

interface SingleArgumentFieldOptions<T extends ProjectTable> {
  find: Find<string, T>;
  arg: [name: string, schema: z.ZodType];
}

interface ArgumentSetFieldOptions<T extends ProjectTable, S extends z.ZodObject> {
  find: Find<z.output<S>, T>;
  argumentSets: ArgumentSets;
  args: S;
}

builder.objectFields(Project, (t) => ({
  destination: createSingleArgumentField(t, Destination, {
    find: lookUpDestination,
    arg: ['idOrName', createNameSchema('destination')],
  }),
  topic: createSingleArgumentField(t, Topic, {
    find: lookUpTopic,
    arg: ['idOrName', createNameSchema('topic')],
  }),
  group: createSingleArgumentField(t, Group, {
    find: lookUpGroup,
    arg: ['idOrRef', createRefSchema('group')],
  }),
  consumer: createSingleArgumentField(t, Consumer, {
    find: lookUpConsumer,
    arg: ['idOrRef', createRefSchema('consumer')],
  }),
}));

builder.objectFields(Project, (t) => ({
  connection: createArgumentSetField(t, ConnectedAccount, {
    find: lookUpConnection,
    argumentSets: CONNECTION_ARGUMENT_SETS,
    args: z.object({
      id: createIdSchema('connection'),
      provider: createProviderSchema('The name of the provider, with `groupRef`.'),
      groupRef,
      consumerRef: ref
        .nullish()
        .describe(
          "The builder's own id of the consumer who connected it. Default: the connection that new installations of the group use.",
        ),
    }),
  }),
  installation: createArgumentSetField(t, Installation, {
    find: lookUpInstallation,
    argumentSets: INSTALLATION_ARGUMENT_SETS,
    args: z.object({
      id: createIdSchema('installation'),
      integrationIdOrName: integrationIdOrName
        .nullish()
        .describe('The id of the integration, or its name (case-sensitive), with `groupRef`.'),
      groupRef,
    }),
  }),
  providerApp: createArgumentSetField(t, ProviderApp, {
    find: lookUpProviderApp,
    argumentSets: PROVIDER_APP_ARGUMENT_SETS,
    args: z.object({
      id: createIdSchema('provider app'),
      provider: createProviderSchema('The name of the provider.'),
    }),
  }),
}));
