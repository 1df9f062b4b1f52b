/** Checks the metadata of a connection by the inputs that its provider declares. */
import type { Issue } from '../../../../kernel/errors.ts';
import type { CustomInput, Provider } from '../../../../providers/contract.ts';
import { createInputIssue } from '../../../base/issues.ts';
import {
  type AccountMetadata,
  type AccountMetadataInput,
  findVariable,
  listAddressProblems,
  PRINTABLE,
  toInputPath,
} from './account-address.ts';

/**
 * Lists an issue for each input of the provider that is missing or unusable, and for each input of a module that is
 * unusable. An installation in an integration of the module requires the module's inputs.
 */
export function listInputIssues(
  provider: Provider,
  { providerWorkspaceRef, providerMetadata }: AccountMetadataInput,
): Issue[] {
  const account: AccountMetadata = {
    providerWorkspaceRef: providerWorkspaceRef ?? null,
    providerMetadata,
  };
  const addressProblems = listAddressProblems(provider, listConnectAddresses(provider), account);
  const detailsByVariable = new Map(
    addressProblems.map(({ variable, detail }) => [variable, detail]),
  );
  return listInputs(provider).flatMap(({ name, displayName, optional }) => {
    const value = findVariable(name, account);
    if (value === null) {
      const isPresent = Object.hasOwn(providerMetadata ?? {}, name);
      if (isPresent) return createIssue(name, 'must be non-empty text.');
      return optional ? [] : createIssue(name, `is required for ${provider.name}: ${displayName}.`);
    }
    if (!PRINTABLE.test(value)) {
      return createIssue(name, 'must be a single line of text, up to 1,024 characters.');
    }
    const detail = detailsByVariable.get(name);
    return detail === undefined ? [] : createIssue(name, detail, value);
  });
}

/** Lists the inputs of the provider, and those of its modules as optional ones. */
function listInputs({ inputs = [], modules = [] }: Provider): CustomInput[] {
  const names = new Set(inputs.map(({ name }) => name));
  const moduleInputs = modules
    .flatMap((module) => module.inputs ?? [])
    .filter(({ name }) => !names.has(name));
  return [...inputs, ...moduleInputs.map((input) => ({ ...input, optional: true as const }))];
}

function listConnectAddresses({ baseUrl, modules = [], oauth2 }: Provider): string[] {
  const moduleAddresses = modules.map((module) => module.baseUrl);
  return [baseUrl, ...moduleAddresses, oauth2?.authorizeUrl, oauth2?.tokenUrl].filter(
    (url) => url !== undefined,
  );
}

function createIssue(variable: string, detail: string, value?: string): Issue {
  return createInputIssue(toInputPath(variable), detail, value);
}
