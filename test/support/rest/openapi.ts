/** Holds answers to the OpenAPI document that the app serves. */
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

export interface Answered {
  method: string;
  /** Below /v1, with its query. */
  path: string;
  status: number;
  contentType: string | undefined;
  body: unknown;
}

export type AnswerCheck = (answered: Answered) => void;

/** Fails where the document doesn't know the endpoint, the status, the media type or the body. */
export function answerCheck(document: OpenapiDocument): AnswerCheck {
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  addFormats.default(ajv);
  ajv.addSchema(document, 'document');
  const validators = new Map<string, ValidateFunction>();
  const validatorAt = (pointer: string) => {
    const known = validators.get(pointer) ?? ajv.compile({ $ref: `document#${pointer}` });
    validators.set(pointer, known);
    return known;
  };
  return ({ method, path, status, contentType, body }) => {
    const template = templateOf(document, path);
    const operation = document.paths[template]?.[method.toLowerCase()];
    expect(operation, `${method} ${path} is in the document`).toBeDefined();
    const responses = operation?.responses ?? {};
    const key = String(status) in responses ? String(status) : `${String(status)[0]}XX`;
    expect(Object.keys(responses), `${method} ${template} may answer ${status}`).toContain(key);
    const known = Object.keys(responses[key]?.content ?? {});
    if (known.length === 0) return expect(body).toBe('');
    const media = contentType?.split(';')[0] ?? 'none';
    expect(known, `${method} ${template} ${status}`).toContain(media);
    const pointer = ['paths', template, method.toLowerCase(), 'responses', key];
    const validate = validatorAt(pointerOf([...pointer, 'content', media, 'schema']));
    validate(body);
    expect(validate.errors ?? [], `${method} ${template} ${status}`).toEqual([]);
  };
}

/** The path of the document that a request's path is one of; words win over parameters. */
function templateOf({ paths }: OpenapiDocument, path: string): string {
  const [asked = ''] = path.split('?');
  const fits = Object.keys(paths).filter((template) => {
    const literal = template.replace(/[.*+?^$()|[\]\\]/g, '\\$&');
    return new RegExp(`^${literal.replace(/\{\w+\}/g, '[^/]+')}$`).test(asked);
  });
  const parameters = (template: string) => template.split('{').length;
  const literals = (template: string) => template.replace(/\{\w+\}/g, '').length;
  return (
    fits.sort((a, b) => parameters(a) - parameters(b) || literals(b) - literals(a))[0] ?? asked
  );
}

function pointerOf(names: string[]): string {
  const escaped = names.map((name) => name.replaceAll('~', '~0').replaceAll('/', '~1'));
  return `/${escaped.map(encodeURIComponent).join('/')}`;
}
