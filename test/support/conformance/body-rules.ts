/** Rules about the fields of a body. Each field is accepted, is required or optional, and has its type. */
import { expect } from 'vitest';
import type { Body, BodyField, Json } from './body.ts';
import type { Fixture } from './fixture.ts';
import { sendByGraphql } from './graphql-body.ts';
import { withValue } from './json-paths.ts';
import { ACCEPTED, type Outcome, type Send, sendByRest } from './outcome.ts';
import type { Rule } from './rule.ts';
import { TYPES } from './value-types.ts';

export function createBodyRules(body: Body): Rule[] {
  return Object.entries(body.fields).map(([path, field]): Rule => {
    const check = (send: Send) => (fixture: Fixture) =>
      checkField({ fixture, body, path, field }, send);
    return {
      title: `${body.name} ${describeRequirement(field)} \`${formatPath(path)}\`, ${describeType(field)}.`,
      rest: check(sendByRest),
      ...(!field.isRestOnly && { graphql: check(sendByGraphql) }),
    };
  });
}

const describeRequirement = ({ isRequired }: BodyField) =>
  isRequired ? 'needs' : isRequired === null ? 'takes' : 'may have';
const formatPath = (path: string) => path.replaceAll('[0]', '[]');
const describeType = ({ type, values }: BodyField) =>
  values ? `one of ${values.join(', ')}` : TYPES[type].description;

interface FieldCheck {
  fixture: Fixture;
  body: Body;
  path: string;
  field: BodyField;
}

async function checkField({ fixture, body, path, field }: FieldCheck, send: Send) {
  const createWithField = async () =>
    (await (field.createWith ?? body.createCompleteBody)(fixture)) as Json;
  const sendBody = async (payload: Json) => send(fixture, body, payload);
  const invalidValues = { [path]: TYPES[field.type].invalidValue };
  expect(await sendBody(await createWithField()), 'with the field').toMatchObject(ACCEPTED);
  for (const value of [invalidValues[path], ...(field.values ? ['another'] : [])]) {
    const refused = await sendBody(withValue(await createWithField(), path, value));
    expectRefusal(refused, path);
  }
  for (const word of field.values ?? []) {
    const { refusal } = await sendBody(withValue(await createWithField(), path, word));
    expect(refusal ?? '', `${path} can be ${word}`).not.toContain(`${path}:`);
  }
  if (field.isRequired === null) return;
  const withoutField = field.createWithout
    ? await field.createWithout(fixture)
    : withValue(await createWithField(), path, undefined);
  const outcome = await sendBody(withoutField);
  if (field.isRequired) expectRefusal(outcome, path);
  else expect(outcome, 'without the field').toMatchObject(ACCEPTED);
}

function expectRefusal({ status, refusal }: Outcome, path: string) {
  expect(status, `${path}: ${refusal}`).toBe(400);
  expect(refusal).toContain(path.split(/[.[\]]+/).findLast((step) => !/^\d*$/.test(step)));
}
