/** Creates contracts, and the inputs of contracts, without an app. */
import type { Contract } from '../../../../src/domain/data/contract/contract-resource.ts';
import type { FieldContract } from '../../../../src/domain/data/contract/field-contract.ts';
import {
  type ContractInput,
  createContract,
} from '../../../../src/domain/data/contract/object-contract.ts';
import {
  type ConfigInput,
  installationConfigInput,
} from '../../../../src/domain/integrations/installation/choice/installation-config-input.ts';
import { createStoredConfig } from '../../../../src/domain/integrations/installation/installation-config.ts';
import { integrationContentInput } from '../../../../src/domain/integrations/integration/integration-content-input.ts';
import type { FieldDescription } from '../../../../src/providers/contract.ts';
import { applyModule } from '../../../../src/providers/modules.ts';
import { PROVIDERS } from '../../../support/fixtures/connections.ts';

export interface ContractMembers {
  content: object;
  /** Default: none, for the contract of the revision. */
  config?: ConfigInput;
  /** The fields of the account's objects. */
  account?: Record<string, Partial<FieldDescription>[]>;
  learnedFields?: ContractInput['learnedFields'];
}

export function createInput({
  content,
  config,
  account,
  learnedFields = new Map(),
}: ContractMembers): ContractInput {
  const parsedContent = integrationContentInput.parse({
    name: 'crm',
    provider: 'sandbox',
    ...content,
  });
  const provider = PROVIDERS.find(({ name }) => name === parsedContent.provider);
  return {
    integration: parsedContent.name,
    content: parsedContent,
    provider: provider ? applyModule(provider, parsedContent.module) : null,
    learnedFields,
    config: config && createStoredConfig(installationConfigInput.parse(config), parsedContent),
    descriptions:
      account &&
      new Map(
        Object.entries(account).map(([name, fields]) => [
          name,
          { name, displayName: null, fields: fields.map(createField) },
        ]),
      ),
  };
}

export function createField(field: Partial<FieldDescription>): FieldDescription {
  return {
    fieldName: 'email',
    displayName: null,
    valueType: 'STRING',
    providerType: null,
    readOnly: false,
    isCustom: false,
    isRequired: false,
    values: null,
    referenceTo: null,
    ...field,
  };
}

export function createTestContract(input: ContractMembers): Contract {
  return createContract(createInput(input));
}

/** Returns the fields of an object by name. */
export function indexFields(
  { objects }: Pick<Contract, 'objects'>,
  object = objects[0]?.name,
): Record<string, FieldContract> {
  const fields = objects.find(({ name }) => name === object)?.fields ?? [];
  return Object.fromEntries(fields.map((field) => [field.name, field]));
}

/** Returns the read config of an integration that reads the sandbox's contacts. */
export function createReadConfig(overrides: object = {}) {
  return { objects: [{ objectName: 'contacts', destination: 'records', ...overrides }] };
}
