/** Checks changes of the workspace and the metadata, from which the addresses of a connection are built. */
import type { Issue } from '../../../errors.ts';
import type { Provider } from '../../../providers/contract.ts';
import { createInputIssue } from '../../issues.ts';
import { listWorkspaceIssues } from '../../provider/provider-workspace.ts';
import {
  type AccountMetadata,
  type AccountMetadataInput,
  findOrigin,
  findVariable,
  findWorkspaceRef,
  listVariables,
  toInputMember,
} from './account-address.ts';
import { listInputIssues } from './connect-inputs.ts';

/** The new values. Absent members keep their values. */
interface MetadataChange extends AccountMetadataInput {
  /** True if the change includes new credentials. */
  hasCredentials: boolean;
}

/**
 * Lists issues with the change. The new values must be valid for a new connection. A change without credentials must not
 * lead to another origin, because stored credentials are sent only to the origin for which they were entered.
 */
export function listMetadataChangeIssues(
  provider: Provider,
  before: AccountMetadata,
  change: MetadataChange,
): Issue[] {
  const { providerWorkspaceRef, providerMetadata } = change;
  const after = changeMetadata(before, change);
  const isOtherWorkspace = findWorkspaceRef(before) !== findWorkspaceRef(after);
  const mustCheckWorkspace = isOtherWorkspace || providerWorkspaceRef !== undefined;
  const issues = [
    ...(mustCheckWorkspace ? listWorkspaceIssues(provider, findWorkspaceRef(after)) : []),
    ...(providerMetadata === undefined ? [] : listInputIssues(provider, after)),
  ];
  if (issues.length > 0 || change.hasCredentials) return issues;
  const newOrigins = findNewOrigins(provider, { before, after });
  return [...newOrigins].map(([variable, origin]) => {
    const isWorkspaceRef = variable === 'workspace' && providerWorkspaceRef !== undefined;
    const member = isWorkspaceRef ? toInputMember(variable) : `providerMetadata.${variable}`;
    const detail = `points to another origin, ${origin}. Send new credentials with it: stored credentials are only sent to the origin that they were entered for.`;
    return createInputIssue(['input', ...member.split('.')], detail, findVariable(variable, after));
  });
}

/** Returns the account's metadata after the change. */
export function changeMetadata(
  before: AccountMetadata,
  {
    providerWorkspaceRef = before.providerWorkspaceRef,
    providerMetadata = before.providerMetadata,
  }: AccountMetadataInput,
): AccountMetadata {
  return { providerWorkspaceRef, providerMetadata };
}

/** Maps each changed variable to the new origin of the first address that contains it and changes its origin. */
function findNewOrigins(
  provider: Provider,
  { before, after }: { before: AccountMetadata; after: AccountMetadata },
): Map<string, string> {
  const origins = new Map<string, string>();
  for (const template of listCredentialAddresses(provider)) {
    const origin = findOrigin(provider, template, after);
    if (origin === null || origin === findOrigin(provider, template, before)) continue;
    for (const variable of listVariables(template)) {
      const isChanged = findVariable(variable, before) !== findVariable(variable, after);
      if (isChanged && !origins.has(variable)) origins.set(variable, origin);
    }
  }
  return origins;
}

/** Lists the addresses to which credentials are sent. */
function listCredentialAddresses({ baseUrl, modules = [], oauth2 }: Provider): string[] {
  const moduleAddresses = modules.map((module) => module.baseUrl);
  const addresses = [baseUrl, ...moduleAddresses, oauth2?.tokenUrl, oauth2?.revocation?.url];
  return addresses.filter((address) => address !== undefined);
}
