/** Whose account a token is of: the portal, and the person who agreed. */
import { z } from 'zod';
import type { AccountIdentity, ProviderSession } from '../contract.ts';
import { isSuccess } from '../reading-answers.ts';
import { paths } from './paths.ts';

const id = z.union([z.int(), z.string().min(1).max(64)]).transform(String);
const details = z.object({ portalId: id.nullish(), ownerId: id.nullish() });
/** It tells the person, which an account does not. */
const tokenFacts = z.object({ hub_id: id.nullish(), user_id: id.nullish() });

export async function identify(
  session: ProviderSession,
  accessToken: string,
): Promise<AccountIdentity> {
  const [account, token] = await Promise.all([
    factsAt(session, paths.accountDetails, details),
    factsAt(session, paths.accessToken(accessToken), tokenFacts),
  ]);
  return {
    workspaceRef: account.portalId ?? token.hub_id ?? null,
    consumerRef: token.user_id ?? account.ownerId ?? null,
  };
}

/** What one of them does not tell now, the other may. */
async function factsAt<T extends z.ZodObject>(
  session: ProviderSession,
  path: string,
  schema: T,
): Promise<Partial<z.output<T>>> {
  const answer = await session.send({ method: 'GET', path }).catch(() => null);
  const facts = answer && isSuccess(answer) ? schema.safeParse(answer.body) : null;
  return facts?.success ? facts.data : {};
}
