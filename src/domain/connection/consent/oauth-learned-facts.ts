/** What a token answer tells of the account. */
import type { OAuth2Facts, Provider } from '../../../providers/contract.ts';
import { workspaceIssues } from '../../provider/provider-workspace.ts';
import { type TokenAnswer, textAt } from '../token/token-endpoint.ts';

export interface LearnedFacts {
  providerConsumerRef: string | null;
  /** What the caller gave, for an answer that names no workspace. */
  providerWorkspaceRef: string | null;
}

/** The same limit as for a workspace that a caller gives. */
const REF_LENGTH_MAX = 1_024;

export function learnedFacts(
  provider: Provider & { oauth2: OAuth2Facts },
  { facts }: TokenAnswer,
  given: { providerWorkspaceRef?: string | null },
): LearnedFacts {
  const { tokenFields } = provider.oauth2;
  const named = textAt(facts, tokenFields?.workspaceRef);
  const workspace = named === null ? null : workspaceOf(provider, named);
  return {
    providerConsumerRef: bounded(textAt(facts, tokenFields?.consumerRef)),
    providerWorkspaceRef: bounded(workspace) ?? given.providerWorkspaceRef ?? null,
  };
}

/** The name itself, or what is in the workspace's place in an address; null if it fits neither. */
function workspaceOf(provider: Provider, named: string): string | null {
  if (!provider.baseUrl.includes('{{workspace}}')) return named;
  if (workspaceIssues(provider, named).length === 0) return named;
  const [before = '', after = ''] = provider.baseUrl.split('{{workspace}}');
  const address = named.replace(/\/+$/, '');
  if (!address.startsWith(before) || !address.endsWith(after)) return null;
  const inPlace = address.slice(before.length, address.length - after.length);
  return workspaceIssues(provider, inPlace).length === 0 ? inPlace : null;
}

function bounded(text: string | null): string | null {
  return text !== null && text.length <= REF_LENGTH_MAX ? text : null;
}
