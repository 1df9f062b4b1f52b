/** A contract: the objects and fields of integrations under the builder's names, as callers can rely on them. */
import { z } from 'zod';
import { enumeration, resource } from '../../base/resource.ts';
import { fieldContractResource } from './field-contract.ts';

const contractVerb = enumeration('ContractVerb', 'An operation on the records of an object.', {
  LIST: 'List its records.',
  SEARCH: 'List records that meet conditions.',
  READ_BY_ID: 'Read single records by id.',
  CREATE: 'Create records.',
  UPDATE: 'Update records.',
  DELETE: 'Delete records.',
  SUBSCRIBE: 'Get an event for each record that changes at the provider.',
});
export type ContractVerb = z.output<typeof contractVerb>;
export const CONTRACT_VERBS = contractVerb.options;

const contractSourceResource = resource(
  'ContractSource',
  'An integration that has an object of a contract.',
  {
    integration: z.string().describe('The name of the integration.'),
    provider: z.string().describe('The name of its provider.'),
    providerObject: z.string().describe("The provider's name of the object."),
  },
);

const filterableFieldsResource = resource(
  'FilterableFields',
  'The conditions that a search of an object may have.',
  {
    fields: z.array(z.string()).describe('The names of the fields that a condition may name.'),
    conditionsMax: z
      .int()
      .describe(
        'The maximum number of conditions in a search. Zero if the object cannot be searched.',
      ),
  },
);

export type FilterableFields = z.output<typeof filterableFieldsResource>;

const objectContractResource = resource(
  'ObjectContract',
  'An object of a contract, with its fields and the operations on its records.',
  {
    name: z
      .string()
      .describe("The builder's name of the object, or the provider's if none is mapped."),
    displayName: z.string().nullable().describe('The display name. {Null} if it is unknown.'),
    sources: z
      .array(contractSourceResource)
      .describe(
        'The integrations that have the object. Several only in the contract of a project.',
      ),
    verbs: z
      .array(contractVerb)
      .describe(
        'The operations that at least one of the sources allows and its provider supports.',
      ),
    filterable: filterableFieldsResource,
    acceptsOtherFields: z
      .boolean()
      .describe("Whether writes may name further fields, by the provider's names."),
    fields: z.array(fieldContractResource).describe('The fields, in the order of the manifest.'),
  },
);
export type ObjectContract = z.output<typeof objectContractResource>;

const contractFindingKind = enumeration(
  'ContractFindingKind',
  'The reason why a contract is less exact than it could be.',
  {
    TYPE_CONFLICT: 'Integrations give one field types that contradict each other.',
    NAME_CLASH: 'Two names are the same in generated code.',
    NOT_DESCRIBED: 'The account could not describe an object.',
  },
);

const contractFindingResource = resource(
  'ContractFinding',
  'A reason why a contract is less exact than it could be.',
  {
    kind: contractFindingKind.describe('The kind of the reason.'),
    object: z.string().describe('The name of the object.'),
    field: z
      .string()
      .nullable()
      .describe('The name of the field. {Null} if the reason concerns the whole object.'),
    message: z.string().describe('The reason, where it occurs, and the remedy.'),
  },
);
export type ContractFinding = z.output<typeof contractFindingResource>;

export const contractResource = resource(
  'Contract',
  "Objects and fields under the builder's names, as callers can rely on them.",
  {
    hash: z.string().describe('Equal for contracts with the same objects and findings.'),
    objects: z.array(objectContractResource).describe('The objects.'),
    findings: z
      .array(contractFindingResource)
      .describe('Reasons why the contract is less exact than it could be.'),
  },
);
export type Contract = z.output<typeof contractResource>;
