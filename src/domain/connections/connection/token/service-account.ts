/** Keys of service accounts, and the assertions that they sign to obtain a token (RFC 7523). */
import { createPrivateKey, type KeyObject } from 'node:crypto';
import { SignJWT } from 'jose';
import { z } from 'zod';
import type { ServiceAccountSettings } from '../../../../providers/contract.ts';
import { ProviderError } from '../../../../providers/provider-error.ts';
import { parseBounded, requireParsed } from '../../../../work/bounded-parse.ts';

const ALGORITHM = 'RS256';
/** The longest lifetime that Google accepts. */
const LIFETIME_SECONDS = 3_600;

const keyFileSchema = z.object({
  client_email: z.string().min(1),
  private_key: z.string().min(1),
  private_key_id: z.string().optional(),
});

interface ServiceAccountKey {
  email: string;
  keyId: string | undefined;
  privateKey: KeyObject;
}

const scopesSchema = z.array(z.string().min(1)).min(1);

type Inputs = Record<string, unknown>;

/** Lists problems with the inputs of a service account. The details do not contain values. */
export function listServiceAccountProblems(
  { key: keyInput, scopes: scopesInput, subject: subjectInput }: ServiceAccountSettings,
  inputs: Inputs,
): { input: string; detail: string }[] {
  const problems = [];
  if (inputs[keyInput] !== undefined && !parseKeyFile(inputs[keyInput])) {
    const detail = 'must be the JSON key file of a service account with an RSA key, in base64.';
    problems.push({ input: keyInput, detail });
  }
  if (
    scopesInput &&
    inputs[scopesInput] !== undefined &&
    !parseBounded(scopesSchema, inputs[scopesInput]).success
  ) {
    problems.push({ input: scopesInput, detail: 'must be a list of at least one scope.' });
  }
  if (subjectInput && !['string', 'undefined'].includes(typeof inputs[subjectInput])) {
    problems.push({ input: subjectInput, detail: 'must be text.' });
  }
  return problems;
}

/** Returns an assertion signed with the account's key. The token endpoint exchanges it for an access token. */
export async function signAssertion(
  settings: ServiceAccountSettings,
  inputs: Inputs,
  now: Date,
): Promise<string> {
  const key = parseKeyFile(inputs[settings.key]);
  const scopes = scopesSchema.safeParse(
    settings.scopes ? inputs[settings.scopes] : settings.fixedScopes,
  );
  // The inputs were valid when they were stored, but the provider's declaration may have changed since.
  if (!key || !scopes.success) {
    throw new ProviderError('BAD_REQUEST', "The key of the service account can't be read.");
  }
  const issuedAt = Math.floor(now.getTime() / 1_000);
  const subject = settings.subject && inputs[settings.subject];
  const assertion = new SignJWT({ scope: scopes.data.join(' ') })
    .setProtectedHeader({ alg: ALGORITHM, typ: 'JWT', ...(key.keyId && { kid: key.keyId }) })
    .setIssuer(key.email)
    .setAudience(settings.tokenUrl)
    .setIssuedAt(issuedAt)
    .setExpirationTime(issuedAt + LIFETIME_SECONDS);
  if (typeof subject === 'string') assertion.setSubject(subject);
  return assertion.sign(key.privateKey);
}

/** Parses a key file in base64. Null if the value is not a key file with an RSA key. */
function parseKeyFile(value: unknown): ServiceAccountKey | null {
  if (typeof value !== 'string') return null;
  try {
    const file = requireParsed(
      keyFileSchema,
      JSON.parse(Buffer.from(value, 'base64').toString('utf8')),
    );
    const privateKey = createPrivateKey(file.private_key);
    if (privateKey.asymmetricKeyType !== 'rsa') return null;
    return { email: file.client_email, keyId: file.private_key_id, privateKey };
  } catch {
    return null;
  }
}
