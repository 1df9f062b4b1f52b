/**
 * The secrets of an OAuth flow in a browser. The link that begins it contains a ticket. The browser that opens the link keeps
 * another secret in a cookie. The `state` that the provider returns identifies the flow and proves that the same
 * browser has returned (RFC 9700, section 4.7; RFC 6749, section 10.12). Only hashes of tickets are stored. A state does
 * not reveal its ticket, so that a person who sees a state can't open the link.
 */
import { createHmac, hash, randomBytes } from 'node:crypto';
import { isSameSecret } from '../../../../kernel/secrets.ts';

const RANDOM_BYTES = 32;
/** Strings that don't match are rejected without a query of the database. */
const TICKET_PATTERN = /^(?<projectId>prj_\w{26})\.[\w-]{43}$/;
const STATE_PATTERN = /^(?<handle>(?<projectId>prj_\w{26})\.[\w-]{43})\.(?<proof>[\w-]{43})$/;
const BROWSER_PATTERN = /^[\w-]{43}$/;

/** The primary key of an OAuth flow. */
export interface OAuthFlowKey {
  projectId: string;
  id: string;
}

export function createRandomString(): string {
  return randomBytes(RANDOM_BYTES).toString('base64url');
}

/** Creates a ticket and the id of its flow. A ticket contains the project, because every statement names a project. */
export function createTicket(projectId: string): { ticket: string; id: string } {
  const ticket = `${projectId}.${createRandomString()}`;
  return { ticket, id: hashHandle(createHandle(ticket, projectId)) };
}

/** True if a cookie's value has the form of a browser's secret. */
export function isBrowserSecret(value: string | undefined): value is string {
  return value !== undefined && BROWSER_PATTERN.test(value);
}

/** Returns the key of a ticket's flow. Null if the ticket is malformed. */
export function parseTicket(ticket: string | null): OAuthFlowKey | null {
  if (ticket === null) return null;
  const projectId = TICKET_PATTERN.exec(ticket)?.groups?.projectId;
  return projectId ? { projectId, id: hashHandle(createHandle(ticket, projectId)) } : null;
}

/** Returns the key of a state's flow. Null if the state is malformed. */
export function parseState(state: string | null): OAuthFlowKey | null {
  const { projectId, handle } = STATE_PATTERN.exec(state ?? '')?.groups ?? {};
  return projectId && handle ? { projectId, id: hashHandle(handle) } : null;
}

/** Creates the state for the browser that has opened the link with this ticket. */
export function createState(ticket: string, { projectId }: OAuthFlowKey, browser: string): string {
  const handle = createHandle(ticket, projectId);
  return `${handle}.${signHandle(handle, browser).toString('base64url')}`;
}

/** True if the state was issued to the browser with this secret. */
export function isIssuedTo(state: string | null, browser: string | null): boolean {
  const { handle, proof } = STATE_PATTERN.exec(state ?? '')?.groups ?? {};
  if (!handle || !proof || browser === null) return false;
  return isSameSecret(Buffer.from(proof, 'base64url'), signHandle(handle, browser));
}

function createHandle(ticket: string, projectId: string): string {
  return `${projectId}.${hash('sha256', ticket, 'base64url')}`;
}

function hashHandle(handle: string): string {
  return hash('sha256', handle, 'hex');
}

function signHandle(handle: string, browser: string): Buffer {
  return createHmac('sha256', browser).update(handle).digest();
}
