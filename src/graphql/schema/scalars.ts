import { GraphQLError } from 'graphql';
import { timestamp } from '../../domain/base/input-schemas.ts';
import { builder } from './schema-builder.ts';

builder.scalarType('DateTime', {
  description:
    'An ISO 8601 timestamp with a time zone, like 2026-01-31T12:00:00Z. Responses contain UTC with milliseconds.',
  serialize: (value) => (value instanceof Date ? value : new Date(value)).toISOString(),
  parseValue: (value) => {
    const parsed = timestamp.safeParse(value);
    if (!parsed.success)
      throw new GraphQLError('DateTime must be a timestamp like 2026-01-31T12:00:00Z.');
    return parsed.data;
  },
});

builder.scalarType('JSON', {
  description: 'Any JSON value: a string, number, boolean, list, object or null.',
  serialize: (value) => value,
  parseValue: (value) => value,
});

builder.scalarType('JSONObject', {
  description: 'A JSON object: values by name.',
  serialize: (value) => value,
  parseValue: (value) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      throw new GraphQLError('JSONObject must be a JSON object, not a list or a scalar.');
    }
    return value as Record<string, unknown>;
  },
});
