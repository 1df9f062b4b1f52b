/** Validates responses against the OpenAPI document that the app serves. */
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { expect } from 'vitest';

interface Response {
  content?: Record<string, { schema: object }>;
}

export interface OpenapiDocument {
  paths: Record<
    string,
    Record<string, { operationId: string; responses: Record<string, Response> }>
  >;
}

export interface RestExchange {
  method: string;
  /** The path below /v1, with its query string. */
  path: string;
  status: number;
  contentType: string | undefined;
  body: unknown;
}

export type ResponseCheck = (exchange: RestExchange) => void;

/**
 * Returns a check that fails if the document lacks the endpoint, the status or the media type, or if the body
 * is invalid.
 */
export function createResponseCheck(document: OpenapiDocument): ResponseCheck {
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  addFormats.default(ajv);
  ajv.addSchema(document, 'document');
  const findTemplate = createTemplateSearch(document);
  // Most refusals have equal schemas. Compiling a schema takes as long as many requests.
  const validators = new Map<string, ValidateFunction>();
  const createValidator = (schema: object, pointer: string) => {
    const key = JSON.stringify(schema);
    const validator = validators.get(key) ?? ajv.compile({ $ref: `document#${pointer}` });
    validators.set(key, validator);
    return validator;
  };
  return ({ method, path, status, contentType, body }) => {
    const template = findTemplate(path);
    const operation = document.paths[template]?.[method.toLowerCase()];
    expect(operation, `${method} ${path} is in the document`).toBeDefined();
    const responses = operation?.responses ?? {};
    const key = String(status) in responses ? String(status) : `${String(status)[0]}XX`;
    expect(Object.keys(responses), `${method} ${template} may respond with ${status}`).toContain(
      key,
    );
    const content = responses[key]?.content ?? {};
    const mediaTypes = Object.keys(content);
    if (mediaTypes.length === 0) return expect(body).toBe('');
    const media = contentType?.split(';')[0] ?? 'none';
    expect(mediaTypes, `${method} ${template} ${status}`).toContain(media);
    const pointer = ['paths', template, method.toLowerCase(), 'responses', key];
    const validate = createValidator(
      content[media]?.schema ?? {},
      toJsonPointer([...pointer, 'content', media, 'schema']),
    );
    validate(body);
    expect(validate.errors ?? [], `${method} ${template} ${status}`).toEqual([]);
  };
}

/** Returns a function that finds the path template of a request. Literal segments win over parameters. */
function createTemplateSearch({ paths }: OpenapiDocument): (path: string) => string {
  const countParameters = (template: string) => template.split('{').length;
  const countLiterals = (template: string) => template.replace(/\{\w+\}/g, '').length;
  const patterns = Object.keys(paths)
    .sort((a, b) => countParameters(a) - countParameters(b) || countLiterals(b) - countLiterals(a))
    .map((template) => {
      const literal = template.replace(/[.*+?^$()|[\]\\]/g, '\\$&');
      return { template, pattern: new RegExp(`^${literal.replace(/\{\w+\}/g, '[^/]+')}$`) };
    });
  return (path) => {
    const [requestPath = ''] = path.split('?');
    return patterns.find(({ pattern }) => pattern.test(requestPath))?.template ?? requestPath;
  };
}

function toJsonPointer(names: string[]): string {
  const escaped = names.map((name) => name.replaceAll('~', '~0').replaceAll('/', '~1'));
  return `/${escaped.map(encodeURIComponent).join('/')}`;
}
