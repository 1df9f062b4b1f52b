/** The pages behind `href` of problem documents: the meaning of each type of problem, and what to do. */
import {
  DomainError,
  ERROR_STATUS,
  type ErrorCode,
  PROBLEM_PAGES,
  problemName,
  problemTitle,
} from '../errors.ts';
import { html } from '../html.ts';
import { page, pageOf } from './plain-page.ts';

/** The meaning of a problem, and what the caller can do. */
type Guide = [meaning: string, remedy: string];

const GUIDES: Record<ErrorCode, Guide> = {
  GRAPHQL_PARSE_FAILED: [
    'The document of the request is not GraphQL.',
    'Look at the place that `locations` tells, and at the quotes around the document.',
  ],
  GRAPHQL_VALIDATION_FAILED: [
    'The document does not fit the schema: a field, an argument or a variable is not as it is declared.',
    'Compare it with the schema in GraphiQL. The message suggests a name if one is alike.',
  ],
  PERSISTED_QUERY_NOT_SUPPORTED: [
    'The request names its query by a hash, and the server does not store queries that clients register.',
    'Send the text of the query, as Apollo Client does by itself after this error. Or send a `documentId` of the manifests of this server.',
  ],
  QUERY_LIMIT_EXCEEDED: [
    'The operation is larger than the server permits: too deep, too many aliases or fields, or too costly.',
    'The problem names the limit and its value. Request less at once: smaller pages, or several operations.',
  ],
  BAD_USER_INPUT: [
    'Some inputs break their rules.',
    '`issues` names each of them: its place (`in` and `name`), what is wrong with it (`type`) and what is allowed (`detail`). Correct all of them and send the request again.',
  ],
  UNAUTHENTICATED: [
    'The request has no API key or bearer token, or one that is not accepted: unknown, inactive, deleted or expired.',
    'Send an API key as X-Api-Key, or a bearer token as Authorization: Bearer.',
  ],
  FORBIDDEN: [
    'The caller is known and lacks a scope, or the request is for people alone and needs a bearer token.',
    'The problem names the scope. Create a key that has it, or use a bearer token.',
  ],
  NOT_FOUND: [
    'Nothing of that id or name exists for this caller. What belongs to someone else does not exist either.',
    'Compare the id, and see whether the caller is of the right project.',
  ],
  METHOD_NOT_ALLOWED: [
    'The path exists and takes other methods.',
    'Use a method that the header Allow or the detail of the problem names.',
  ],
  CONFLICT: [
    'The request contradicts what there is: a name that is taken, a row that others use, or a state that does not allow it.',
    'The problem says what it contradicts. Read the present state, change what stands in the way, and try again.',
  ],
  CONTENT_TOO_LARGE: [
    'The body of the request is larger than the server accepts.',
    'Send less at once. The detail of the problem names the limit.',
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
    'The caller, its address or its project has used up its rate for now.',
    'Wait as long as Retry-After says. RateLimit and RateLimit-Policy of each answer tell what is left.',
  ],
  PROVIDER_ERROR: [
    'The provider did not answer, or its answer could not be used.',
    'Try again later. The problem has what the provider said.',
  ],
  SERVICE_UNAVAILABLE: [
    'The server or its database can not answer at the moment.',
    'Send the request again after the seconds of Retry-After.',
  ],
  INTERNAL_ERROR: [
    'The gateway failed. What went wrong is in its log and in no answer.',
    'Give the operator the `instance` of the problem: the log has it too.',
  ],
};

const CODES = new Map(
  (Object.keys(GUIDES) as ErrorCode[]).map((code) => [
    `${PROBLEM_PAGES}/${problemName(code)}`,
    code,
  ]),
);

export function problemPage(path: string): Response {
  if (path === PROBLEM_PAGES)
    return pageOf(200, 'Problems', { content: html`<ul>${[...CODES].map(link)}</ul>` });
  const code = CODES.get(path);
  if (!code) throw new DomainError('NOT_FOUND', `There is no type of problem at ${path}.`);
  const [meaning, remedy] = GUIDES[code];
  const type = `urn:problem:${problemName(code)}, ${code}`;
  return page(200, problemTitle(code), [meaning, remedy, `${type}: ${ERROR_STATUS[code]}`]);
}

function link([path, code]: [string, ErrorCode]) {
  return html`<li><a href="${path.slice(1)}">${problemTitle(code)}</a> (${code})</li>\n`;
}
