/** The pages to which `href` of problem documents links. They explain each type of problem and its remedy. */
import type { FastifyReply } from 'fastify';
import {
  DomainError,
  ERROR_STATUS,
  type ErrorCode,
  getProblemName,
  getProblemTitle,
  PROBLEMS_PATH,
} from '../kernel/errors.ts';
import { html } from '../kernel/html.ts';
import { sendPage, toParagraphs } from './html-page.ts';

type Guide = [meaning: string, remedy: string];

const GUIDES: Record<ErrorCode, Guide> = {
  GRAPHQL_PARSE_FAILED: [
    'The document of the request is not GraphQL.',
    'Check the position in `locations`, and the quotes around the document.',
  ],
  GRAPHQL_VALIDATION_FAILED: [
    'The document does not match the schema: a field, an argument or a variable differs from its declaration.',
    'Compare it with the schema in GraphiQL. The message suggests a similar name if there is one.',
  ],
  PERSISTED_QUERY_NOT_SUPPORTED: [
    'The request names its query by a hash, and the server does not store queries that clients register.',
    'Send the text of the query, as Apollo Client does automatically after this error. Or send a `documentId` of the manifests of this server.',
  ],
  QUERY_LIMIT_EXCEEDED: [
    'The operation is larger than the server permits: too deep, too many aliases or fields, or too costly.',
    'The problem names the limit and its value. Request less: smaller pages, or several operations.',
  ],
  BAD_USER_INPUT: [
    'Some inputs are invalid.',
    '`issues` names each of them: its location (`in` and `name`), the error (`type`) and what is allowed (`detail`). Correct all of them and repeat the request.',
  ],
  UNAUTHENTICATED: [
    'The request has no API key or bearer token, or one that is unknown, inactive, deleted or expired.',
    'Send an API key as X-Api-Key, or a bearer token as Authorization: Bearer.',
  ],
  AGENT_SESSION_EXPIRED: [
    'The session of the agent has expired.',
    'Create a new one with `createAgentSession`, and give its token to the agent.',
  ],
  AGENT_SESSION_REVOKED: [
    'A person or a builder has revoked the session of the agent.',
    'Find out why it was revoked before you create a new one.',
  ],
  FORBIDDEN: [
    'The caller is known and lacks a scope, or the request needs a bearer token of a person.',
    'The problem names the scope. Create a key that has it, or use a bearer token.',
  ],
  OBJECT_NOT_GRANTED: [
    'The agent session does not include this object.',
    'Use an object that `search_objects` returns, or create a session with this object.',
  ],
  VERB_NOT_GRANTED: [
    'The agent session does not permit this kind of call, such as deletions.',
    'The problem names the permitted verbs. Create a session with this verb if the agent needs it.',
  ],
  SELF_APPROVAL: [
    'The caller created the proposal, so it may not approve it.',
    'Let another person or a rule of the agent session approve it.',
  ],
  NOT_FOUND: [
    'No object with this id or name exists for this caller. Objects of other tenants do not exist for it either.',
    'Check the id, and whether the caller belongs to the right project.',
  ],
  METHOD_NOT_ALLOWED: [
    'The path exists and supports other methods.',
    'Use a method that the header Allow or the detail of the problem names.',
  ],
  CONFLICT: [
    'The request conflicts with the current state: the name exists, the object is in use, or its state does not allow the change.',
    'The problem names the conflict. Read the current state, resolve the conflict, and retry.',
  ],
  PROPOSAL_NOT_APPROVED: [
    'The proposal waits for an approval, and nothing has been written.',
    'Wait until its status is APPROVED, then commit it.',
  ],
  PROPOSAL_REJECTED: [
    'A person has rejected the proposal, and nothing has been written.',
    'Read `decisionReason`, and propose another change.',
  ],
  PROPOSAL_EXPIRED: [
    'The proposal was not committed in time, and nothing has been written.',
    'Propose the write again, so that it is compared with the current record.',
  ],
  PROPOSAL_COMMITTED: [
    'The proposal has already been committed. A proposal is committed once.',
    'Read the outcome of the operation that the problem names in `operationId`.',
  ],
  PROPOSAL_STALE: [
    'The record has changed since the proposal was created, and nothing has been written.',
    'Read the record and propose the write again.',
  ],
  PROPOSAL_PAYLOAD_CHANGED: [
    'The hash of the commit differs from that of the proposal, and nothing has been written.',
    'Commit with the `payloadHash` of the approved proposal, or propose the new values.',
  ],
  CONTENT_TOO_LARGE: [
    'The body of the request is larger than the server accepts.',
    'Send a smaller body, or several requests. The detail of the problem names the limit.',
  ],
  UNSUPPORTED_MEDIA_TYPE: [
    'The body of the request has a type or an encoding that the server does not read.',
    'Send JSON as application/json, uncompressed.',
  ],
  UNPROCESSABLE: [
    'The request is well-formed, but the provider or the configuration of the project refuses it.',
    'The problem says which of them, and why.',
  ],
  RATE_LIMITED: [
    'The caller, its address or its project has exceeded its rate.',
    'Retry after the seconds in Retry-After. RateLimit and RateLimit-Policy of each response show what is left.',
  ],
  PROVIDER_ERROR: [
    'The provider did not respond, or its response was unusable.',
    'Retry later. The problem has the message of the provider.',
  ],
  SERVICE_UNAVAILABLE: [
    'The server or its database is not available at the moment.',
    'Retry after the seconds in Retry-After.',
  ],
  INTERNAL_ERROR: [
    'The gateway failed. The cause is in its log and in no response.',
    'Report the `instance` of the problem to the operator, who can find it in the log.',
  ],
};

const CODES = new Map(
  (Object.keys(GUIDES) as ErrorCode[]).map((code) => [
    `${PROBLEMS_PATH}/${getProblemName(code)}`,
    code,
  ]),
);

export function sendProblemPage(reply: FastifyReply, path: string): FastifyReply {
  if (path === PROBLEMS_PATH) {
    const content = html`<ul>${[...CODES].map(renderProblemLink)}</ul>`;
    return sendPage(reply, 200, { title: 'Problems', content });
  }
  const code = CODES.get(path);
  if (!code) throw new DomainError('NOT_FOUND', `There is no type of problem at ${path}.`);
  const type = `urn:problem:${getProblemName(code)}, ${code}: ${ERROR_STATUS[code]}`;
  const content = toParagraphs([...GUIDES[code], type]);
  return sendPage(reply, 200, { title: getProblemTitle(code), content });
}

function renderProblemLink([path, code]: [string, ErrorCode]) {
  return html`<li><a href="${path.slice(1)}">${getProblemTitle(code)}</a> (${code})</li>\n`;
}
