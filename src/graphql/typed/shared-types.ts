/** Types that all typed APIs share. `graphql-names.ts` reserves their names. */
import {
  GraphQLBoolean,
  GraphQLEnumType,
  GraphQLError,
  GraphQLID,
  GraphQLNonNull,
  GraphQLObjectType,
  GraphQLScalarType,
  GraphQLString,
} from 'graphql';
import { z } from 'zod';
import { type Enumeration, findEnumeration } from '../../domain/base/resource.ts';
import type { ServingInstallation } from '../../domain/data/operation/object-installation.ts';
import type { OperationContext } from '../execution/operation-context.ts';

export const JsonType = new GraphQLScalarType({ name: 'JSON', description: 'Any JSON value.' });

export const JsonObjectType = new GraphQLScalarType({
  name: 'JSONObject',
  description: 'A JSON object: values by name.',
  parseValue(value) {
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
    throw new GraphQLError('JSONObject must be a JSON object, not a list or a scalar.');
  },
});

/** Creates a scalar whose values stay strings, as providers send and accept them. */
function createStringType(
  name: string,
  schema: z.ZodType<string>,
  example: string,
): GraphQLScalarType {
  return new GraphQLScalarType({
    name,
    description: `A string like ${example}. Some providers send it in another format.`,
    parseValue(value) {
      if (schema.safeParse(value).success) return value;
      throw new GraphQLError(`${name} must be a string like ${example}.`);
    },
  });
}

export const DateType = createStringType('Date', z.iso.date(), '`2026-01-31`');
export const DateTimeType = createStringType(
  'DateTime',
  z.iso.datetime({ offset: true }),
  '`2026-01-31T12:00:00Z`',
);

export const PageInfoType = new GraphQLObjectType({
  name: 'PageInfo',
  description:
    'The position of a page in a list: its cursors, and whether records precede or follow it.',
  fields: {
    hasNextPage: {
      type: new GraphQLNonNull(GraphQLBoolean),
      description: 'Whether records follow the last one of this page.',
    },
    hasPreviousPage: {
      type: new GraphQLNonNull(GraphQLBoolean),
      description: 'Whether records precede the first one of this page.',
    },
    startCursor: {
      type: GraphQLString,
      description: 'The cursor of the first record. Null on an empty page.',
    },
    endCursor: {
      type: GraphQLString,
      description:
        'The cursor of the end of the page. Pass it as after to get the next page. Null if the page is empty and no page follows.',
    },
  },
});

/** The installation of a record or of a message. */
export interface RecordInstallation {
  id: string;
  groupRef: string;
  provider: string;
  integration: string | ((context: OperationContext) => Promise<string | null>);
}

export function toRecordInstallation({
  installation,
  group,
  integration,
}: ServingInstallation): RecordInstallation {
  const { name, provider } = integration;
  return { id: installation.id, groupRef: group.groupRef, provider, integration: name };
}

export const RecordInstallationType = new GraphQLObjectType<RecordInstallation, OperationContext>({
  name: 'RecordInstallation',
  description: 'The installation that serves a record: one integration, installed for the group.',
  fields: {
    id: {
      type: new GraphQLNonNull(GraphQLID),
      description: 'The id of the installation.',
    },
    group: {
      type: new GraphQLNonNull(GraphQLID),
      description: 'The ref of the group.',
      resolve: ({ groupRef }) => groupRef,
    },
    integration: {
      type: GraphQLString,
      description:
        'The name of the integration. Null in messages of an installation that was deleted.',
      resolve: ({ integration }, _args, context) =>
        typeof integration === 'string' ? integration : integration(context),
    },
    provider: {
      type: new GraphQLNonNull(GraphQLString),
      description: 'The name of the provider.',
    },
  },
});

/** Creates the type of an enum of the domain. */
export function createEnumType(schema: z.ZodEnum): GraphQLEnumType {
  const { name, description, values } = findEnumeration(schema) as Enumeration;
  const entries = Object.entries(values).map(([value, text]) => [value, { description: text }]);
  return new GraphQLEnumType({ name, description, values: Object.fromEntries(entries) });
}
