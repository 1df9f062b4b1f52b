/** A change of the facts that a connection's addresses are made with. */
import type { Issue } from '../../../errors.ts';
import type { Provider } from '../../../providers/contract.ts';
import { issueAt } from '../../issues.ts';
import { workspaceIssues } from '../../provider/provider-workspace.ts';
import {
  type AccountFacts,
  factName,
  factOf,
  findOrigin,
  type GivenFacts,
  givenWorkspace,
  variablesOf,
} from './account-address.ts';
import { inputIssues } from './connect-inputs.ts';

/** What is left out stays. */
export interface FactsChange extends GivenFacts {
  /** Whether new credentials come with it. */
  isWithCredentials: boolean;
}

/**
 * Why the facts can't be changed so: they are checked as those of a new connection, and credentials that stay go to no
 * other host than they were given for.
 */
export function changedFactsIssues(
  provider: Provider,
  before: AccountFacts,
  change: FactsChange,
): Issue[] {
  const { providerWorkspaceRef, providerMetadata } = change;
  const after = {
    providerWorkspaceRef:
      providerWorkspaceRef === undefined ? before.providerWorkspaceRef : providerWorkspaceRef,
    providerMetadata: providerMetadata === undefined ? before.providerMetadata : providerMetadata,
  };
  const isOther = givenWorkspace(before) !== givenWorkspace(after);
  const isChecked = isOther || providerWorkspaceRef !== undefined;
  const issues = [
    ...(isChecked ? workspaceIssues(provider, givenWorkspace(after)) : []),
    ...(providerMetadata === undefined ? [] : inputIssues(provider, after)),
  ];
  if (issues.length > 0 || change.isWithCredentials) return issues;
  return otherHosts(provider, { before, after }).map(({ variable, origin }) => {
    const isRef = variable === 'workspace' && providerWorkspaceRef !== undefined;
    const member = isRef ? factName(variable) : `providerMetadata.${variable}`;
    const detail = `leads to another host, ${origin}, which the connection's credentials were not given for: give new ones with it.`;
    return issueAt(['input', ...member.split('.')], detail, factOf(variable, after));
  });
}

/** One for each changed variable of a host. */
function otherHosts(
  provider: Provider,
  { before, after }: { before: AccountFacts; after: AccountFacts },
): { variable: string; origin: string }[] {
  const found = addressesOf(provider).flatMap((template) => {
    const origin = findOrigin(provider, template, after);
    if (origin === null || origin === findOrigin(provider, template, before)) return [];
    return variablesOf(template)
      .filter((variable) => factOf(variable, before) !== factOf(variable, after))
      .map((variable) => ({ variable, origin }));
  });
  return [...new Map(found.toReversed().map((one) => [one.variable, one])).values()].toReversed();
}

/** Where credentials are sent. */
function addressesOf({ baseUrl, modules = [], oauth2 }: Provider): string[] {
  const ofModules = modules.map((module) => module.baseUrl);
  const addresses = [baseUrl, ...ofModules, oauth2?.tokenUrl, oauth2?.revocation?.url];
  return addresses.filter((address) => address !== undefined);
}
