/** Checks the metadata that a provider requires for a connection. */
import type { Issue } from '../../../errors.ts';
import type { Provider } from '../../../providers/contract.ts';
import {
  type AccountFacts,
  addressProblems,
  factName,
  findFact,
  type InputFacts,
} from './account-address.ts';

/** One issue for each input that is missing or unusable. */
export function inputIssues(
  provider: Provider,
  { providerWorkspaceRef, providerMetadata }: InputFacts,
): Issue[] {
  const account: AccountFacts = {
    providerWorkspaceRef: providerWorkspaceRef ?? null,
    providerMetadata,
  };
  const inAddress = new Map(
    addressProblems(provider, listAddresses(provider), account).map(({ variable, detail }) => [
      variable,
      detail,
    ]),
  );
  return (provider.inputs ?? []).flatMap(({ name, displayName, optional }) => {
    const value = findFact(name, account);
    if (value === null) {
      const isGiven = Object.hasOwn(providerMetadata ?? {}, name);
      if (isGiven) return issue(name, 'must be non-empty text.');
      return optional ? [] : issue(name, `is required for ${provider.name}: ${displayName}.`);
    }
    if (!PRINTABLE.test(value))
      return issue(name, 'must be a single line of text, up to 1,024 characters.');
    const detail = inAddress.get(name);
    return detail === undefined ? [] : issue(name, detail, value);
  });
}

function listAddresses({ baseUrl, oauth2 }: Provider): string[] {
  return [baseUrl, oauth2?.authorizeUrl, oauth2?.tokenUrl].filter((url) => url !== undefined);
}

/** The characters and length that are valid in a path and in a header. */
const PRINTABLE = /^[\x20-\x7e]{1,1024}$/;

function issue(variable: string, detail: string, value?: string): Issue {
  const valueMember = value === undefined ? {} : { value };
  return { in: 'body', name: `input.${factName(variable)}`, detail, ...valueMember };
}
