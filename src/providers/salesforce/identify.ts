/** Whose account a token is of, if its answer did not say so: the person's identity URL, which names the org too. */
import { z } from 'zod';
import type { AccountIdentity, ProviderSession } from '../contract.ts';
import { isSuccess } from '../reading-answers.ts';
import { paths } from './paths.ts';

const userInfo = z.object({ sub: z.string().min(1) });

export async function identify(session: ProviderSession): Promise<AccountIdentity> {
  const answer = await session.send({ method: 'GET', path: paths.userInfo });
  const facts = isSuccess(answer) ? userInfo.safeParse(answer.body) : null;
  // The workspace is in the org's addresses: without it there is no connection.
  return { workspaceRef: null, consumerRef: facts?.data?.sub ?? null };
}
