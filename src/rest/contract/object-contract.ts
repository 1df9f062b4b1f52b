import { z } from 'zod';
import { CONTRACT_FIELD_TYPES, type ContractFieldType } from '../../domain/contract/field-type.ts';
import { graphqlOf } from '../../domain/contract/formats/graphql-sdl.ts';
import { jsonSchemaOf } from '../../domain/contract/formats/json-schema.ts';
import { typescriptOf } from '../../domain/contract/formats/typescript.ts';
import {
  CONTRACT_FINDINGS,
  CONTRACT_VERBS,
  type Contract,
  FIELD_ORIGINS,
} from '../../domain/contract/object-contract.ts';
import { getProjectContract } from '../../domain/contract/read-contract.ts';
import { readWithin } from '../../domain/declared-read.ts';
import { fieldValueResource } from '../../domain/installation/shown-field.ts';
import { projectIdOrName } from '../../domain/names.ts';
import { getOwnProject } from '../../domain/project/project.ts';
import { readEndpoint } from '../endpoint/read-endpoint.ts';
import { wordOf, words } from '../endpoint/words.ts';
import { withoutNulls } from '../openapi/response-schema.ts';
import { resource } from '../openapi/schemas.ts';
import { responseOf } from '../openapi/shown-resource.ts';

const tag = 'Contracts';
const path = '/projects/{projectIdOrName}/contract';

const field = resource('FieldContract', 'A field of an object in a contract.', {
  name: z
    .string()
    .describe("The builder's name of the field, or the provider's if none is mapped."),
  providerField: z
    .string()
    .optional()
    .describe(
      "The provider's field. Absent if installations map one, or if the integrations have several.",
    ),
  type: words('ContractFieldType', CONTRACT_FIELD_TYPES).describe('The type of its values.'),
  isTypeKnown: z
    .boolean()
    .describe(
      'False if no manifest, provider or account says the type, or if they contradict each other.',
    ),
  isList: z.boolean().describe('Whether a value is a list.'),
  isRequired: z.boolean().describe('Whether a new record must have a value.'),
  isReadOnly: z.boolean().describe('Whether a write cannot set the field by this name.'),
  isWriteOnly: z.boolean().describe('Whether records that are read lack the field by this name.'),
  isAlwaysRead: z
    .boolean()
    .describe('Whether every record that is read has the field. Its value may be null.'),
  values: z
    .array(responseOf(fieldValueResource))
    .optional()
    .describe('The values of an `enum`. Absent if they are unknown.'),
  references: z
    .array(z.string())
    .optional()
    .describe('The names of the objects that a `reference` may point to. Absent if unknown.'),
  description: z.string().optional().describe('A text for people.'),
  origin: words('FieldOrigin', FIELD_ORIGINS).describe(
    'Who decides that the contract has the field.',
  ),
});

const object = resource('ObjectContract', 'An object of a contract.', {
  name: z
    .string()
    .describe("The builder's name of the object, or the provider's if none is mapped."),
  displayName: z.string().optional().describe('The name that people see.'),
  sources: z
    .array(
      z.object({
        integration: z.string().describe('The name of the integration.'),
        provider: z.string().describe('The name of its provider.'),
        providerObject: z.string().describe("The provider's name of the object."),
      }),
    )
    .describe('The integrations that have the object.'),
  verbs: z
    .array(words('ContractVerb', CONTRACT_VERBS))
    .describe('What at least one of the sources allows and its provider supports.'),
  filterable: z
    .object({
      fields: z.array(z.string()).describe('The names of the fields that a condition may name.'),
      conditionsMax: z.int().describe('The most conditions of one search.'),
    })
    .describe('The conditions that every searchable source supports.'),
  acceptsOtherFields: z
    .boolean()
    .describe("Whether writes may name further fields, by the provider's names."),
  fields: z.array(field).describe('The fields, in the order of the manifest.'),
});

const contract = resource(
  'Contract',
  "The objects and fields of a project under the builder's names, as callers can rely on them.",
  {
    hash: z.string().describe('Equal for contracts with the same objects and findings.'),
    objects: z.array(object).describe('The objects.'),
    findings: z
      .array(
        z.object({
          kind: words('ContractFindingKind', CONTRACT_FINDINGS).describe('The kind of the reason.'),
          object: z.string().describe('The name of the object.'),
          field: z
            .string()
            .optional()
            .describe('The name of the field. Absent if the reason concerns the whole object.'),
          message: z.string().describe('The reason with its places, and what to do.'),
        }),
      )
      .describe('Reasons why the contract is less exact than it could be.'),
  },
);

function showContract({ hash, objects, findings }: Contract): z.input<typeof contract> {
  const shown = {
    hash,
    objects: objects.map(({ fields, verbs, ...rest }) => ({
      ...rest,
      verbs: verbs.map((verb) => wordOf('ContractVerb', verb)),
      fields: fields.map(({ type, origin, ...one }) => ({
        ...one,
        type: typeWord(type),
        origin: wordOf('FieldOrigin', origin),
      })),
    })),
    findings: findings.map(({ kind, ...finding }) => ({
      kind: wordOf('ContractFindingKind', kind),
      ...finding,
    })),
  };
  return withoutNulls(shown) as z.input<typeof contract>;
}

function typeWord(type: ContractFieldType): string {
  return wordOf('ContractFieldType', type);
}

/** Each form of the contract has the same input, and the same version. */
const FORM = {
  tag,
  input: z.object({ projectIdOrName }),
  read: readWithin(getOwnProject, getProjectContract),
  etag: ({ hash }: Contract) => hash,
  description:
    'It has the latest revisions of all integrations, merged by the names of objects. No request is sent to a provider. The `ETag` is the hash of the contract: with `If-None-Match`, a client that has it gets 304.',
};

export const contractEndpoints = [
  readEndpoint({
    ...FORM,
    id: 'getContract',
    path,
    summary: 'Gets the contract of a project.',
    output: contract,
    show: showContract,
  }),
  readEndpoint({
    ...FORM,
    id: 'getContractSchema',
    path: `${path}.schema.json`,
    summary: 'Gets the contract of a project as JSON Schema.',
    output: z
      .record(z.string(), z.unknown())
      .describe('A JSON Schema with a definition for the records and the inputs of each object.'),
    show: jsonSchemaOf,
  }),
  readEndpoint({
    ...FORM,
    id: 'getContractGraphql',
    path: `${path}.graphql`,
    summary: 'Gets the contract of a project as GraphQL types.',
    mediaType: 'text/plain',
    output: z.string().describe('Types for the records, and inputs for the writes of each object.'),
    show: graphqlOf,
  }),
  readEndpoint({
    ...FORM,
    id: 'getContractTypes',
    path: `${path}.d.ts`,
    summary: 'Gets the contract of a project as TypeScript declarations.',
    mediaType: 'text/plain',
    output: z.string().describe('Interfaces for the records and the inputs of each object.'),
    show: typescriptOf,
  }),
];
