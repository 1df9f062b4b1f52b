/** Assertions that the customer's private key signs to obtain a token (RFC 7523), and the inputs that they need. */
import { createPrivateKey, createPublicKey, hash, type KeyObject } from 'node:crypto';
import { SignJWT } from 'jose';
import { z } from 'zod';
import type { AssertionAlgorithm, AssertionSettings } from '../../../../providers/input-grants.ts';
import { ProviderError } from '../../../../providers/provider-error.ts';
import { parseBounded, requireParsed } from '../../../../work/bounded-parse.ts';
import { type AccountMetadata, findVariable, listVariables } from '../session/account-address.ts';

/** The longest lifetime that Google and Snowflake accept. */
const LIFETIME_SECONDS = 3_600;

const keyFileSchema = z.object({
  client_email: z.string().min(1),
  private_key: z.string().min(1),
  private_key_id: z.string().optional(),
});

/** A list of scopes, or a text in which spaces or commas separate them. */
const scopesSchema = z.preprocess(
  (value) => (typeof value === 'string' ? value.split(/[\s,]+/).filter(Boolean) : value),
  z.array(z.string().min(1)).min(1),
);

export type Inputs = Record<string, unknown>;

interface SigningKey {
  privateKey: KeyObject;
  algorithm: AssertionAlgorithm;
  /** From a key file. */
  issuer?: string | undefined;
  keyId?: string | undefined;
}

export interface InputProblem {
  input: string;
  detail: string;
}

/** Lists problems with the inputs of an assertion. The details do not contain values. Missing inputs are no problems. */
export function listAssertionProblems(settings: AssertionSettings, inputs: Inputs): InputProblem[] {
  const { key, keyFormat, scopes, issuer = '', subject = '', keyId = '' } = settings;
  const problems: InputProblem[] = [];
  if (inputs[key] !== undefined && !parseKey(settings, inputs[key])) {
    const types = formatKeyTypes(settings);
    const detail =
      keyFormat === 'keyFile'
        ? `must be the JSON key file of a service account with an ${types} key, in base64.`
        : `must be a private ${types} key without a password, as PEM in base64.`;
    problems.push({ input: key, detail });
  }
  if (
    scopes &&
    inputs[scopes] !== undefined &&
    !parseBounded(scopesSchema, inputs[scopes]).success
  ) {
    problems.push({ input: scopes, detail: 'must be a list of at least one scope.' });
  }
  const textNames = new Set([issuer, subject, keyId].flatMap(listVariables));
  for (const input of textNames) {
    if (!['string', 'undefined'].includes(typeof inputs[input])) {
      problems.push({ input, detail: 'must be text.' });
    }
  }
  return problems;
}

interface AssertionRequest {
  settings: AssertionSettings;
  inputs: Inputs;
  account: AccountMetadata;
  /** The audience if the settings name none. */
  tokenUrl: string | null;
  now: Date;
}

/** Returns a signed assertion, and when it expires. Throws BAD_REQUEST if an input can't be used. */
export async function signAssertion(
  request: AssertionRequest,
): Promise<{ assertion: string; expiresAt: Date }> {
  const { settings, inputs, account, tokenUrl, now } = request;
  const key = parseKey(settings, inputs[settings.key]);
  // The inputs were valid when they were stored, but the provider's declaration may have changed since.
  if (!key) throw new ProviderError('BAD_REQUEST', "The private key can't be read.");
  const { issuer, subject, keyId } = createTokenClaims(request, key);
  const scope = listScopes(settings, inputs)?.join(' ');
  const audience = findAudience(settings, account) ?? tokenUrl;
  const issuedAt = Math.floor(now.getTime() / 1_000);
  const expiresAt = issuedAt + (settings.lifetimeSeconds ?? LIFETIME_SECONDS);
  const jwt = new SignJWT(scope === undefined ? {} : { scope })
    .setProtectedHeader({ alg: key.algorithm, typ: 'JWT', ...(keyId && { kid: keyId }) })
    .setIssuedAt(issuedAt)
    .setExpirationTime(expiresAt);
  if (issuer) jwt.setIssuer(issuer);
  if (subject) jwt.setSubject(subject);
  if (audience !== null) jwt.setAudience(audience);
  return { assertion: await jwt.sign(key.privateKey), expiresAt: new Date(expiresAt * 1_000) };
}

/** Fills in a template from inputs and metadata. Undefined if a variable has no text. */
export function fillTemplate(
  template: string | undefined,
  inputs: Inputs,
  account: AccountMetadata,
): string | undefined {
  if (template === undefined) return undefined;
  const find = (name: string) => {
    const input = Object.hasOwn(inputs, name) ? inputs[name] : findVariable(name, account);
    return typeof input === 'string' && input !== '' ? input : undefined;
  };
  if (listVariables(template).some((name) => find(name) === undefined)) return undefined;
  return template.replaceAll(/\{\{(\w+)\}\}/g, (_all, name) => find(name) ?? '');
}

function createTokenClaims({ settings, inputs, account }: AssertionRequest, key: SigningKey) {
  const { namesSnowflakeUser } = settings;
  // An account locator is followed by its region, which is no part of the account's name.
  const [snowflakeAccount = ''] = (findVariable('workspace', account) ?? '').split('.');
  const values = namesSnowflakeUser ? { ...inputs, account: snowflakeAccount } : inputs;
  const fill = (template: string | undefined) => fillTemplate(template, values, account);
  const issuer = fill(settings.issuer) ?? key.issuer;
  const subject = fill(settings.subject);
  const keyId = fill(settings.keyId) ?? key.keyId;
  if (!namesSnowflakeUser) return { issuer, subject, keyId };
  return {
    issuer: `${issuer?.toUpperCase()}.${createFingerprint(key.privateKey)}`,
    subject: subject?.toUpperCase(),
    keyId,
  };
}

function createFingerprint(privateKey: KeyObject): string {
  const publicKey = createPublicKey(privateKey).export({ type: 'spki', format: 'der' });
  return `SHA256:${hash('sha256', publicKey, 'base64')}`;
}

function findAudience(
  { audience, otherAudience }: AssertionSettings,
  account: AccountMetadata,
): string | null {
  const workspace = findVariable('workspace', account) ?? '';
  const isOther = otherAudience && workspace.includes(otherAudience.workspacePart);
  return (isOther ? otherAudience.audience : audience) ?? null;
}

/** Returns the scopes. Undefined if the settings name none. */
function listScopes({ scopes, fixedScopes }: AssertionSettings, inputs: Inputs) {
  if (!scopes) return fixedScopes;
  const parsed = scopesSchema.safeParse(inputs[scopes]);
  if (parsed.success) return parsed.data;
  throw new ProviderError('BAD_REQUEST', "The scopes can't be read.");
}

/** The types of keys, by the beginning of an algorithm's name. */
const KEY_TYPES: Record<string, string> = { RS: 'RSA', PS: 'RSA', ES: 'EC' };
/** The algorithm of each curve. */
const CURVE_ALGORITHMS: Record<string, AssertionAlgorithm> = {
  prime256v1: 'ES256',
  secp384r1: 'ES384',
  secp521r1: 'ES512',
};

function formatKeyTypes({ algorithms = ['RS256'] }: AssertionSettings): string {
  return [...new Set(algorithms.map((algorithm) => KEY_TYPES[algorithm.slice(0, 2)]))].join(' or ');
}

/** Returns the first algorithm that fits the key. Undefined if none fits. */
function findAlgorithm({ algorithms = ['RS256'] }: AssertionSettings, key: KeyObject) {
  const { asymmetricKeyType: type, asymmetricKeyDetails: details } = key;
  if (type === 'rsa') return algorithms.find((algorithm) => !algorithm.startsWith('ES'));
  const curveAlgorithm = type === 'ec' && CURVE_ALGORITHMS[details?.namedCurve ?? ''];
  return algorithms.find((algorithm) => algorithm === curveAlgorithm);
}

/** Parses a key of the declared format. Null if the value is none, or if no algorithm fits it. */
function parseKey(settings: AssertionSettings, value: unknown): SigningKey | null {
  if (typeof value !== 'string') return null;
  try {
    const { pem, ...names } =
      settings.keyFormat === 'keyFile' ? readKeyFile(value) : readPem(value);
    const privateKey = createPrivateKey(pem);
    const algorithm = findAlgorithm(settings, privateKey);
    return algorithm ? { privateKey, algorithm, ...names } : null;
  } catch {
    return null;
  }
}

function readKeyFile(value: string) {
  const file = requireParsed(keyFileSchema, JSON.parse(decode(value)));
  return { pem: file.private_key, issuer: file.client_email, keyId: file.private_key_id };
}

/** Reads a PEM file, as it is or in base64. */
function readPem(value: string): { pem: string } {
  return { pem: value.includes('-----BEGIN') ? value : decode(value) };
}

function decode(value: string): string {
  return Buffer.from(value, 'base64').toString('utf8');
}
