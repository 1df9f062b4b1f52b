/** Rules about the fields of a body: it can be given, it must or need not be, and has its type. */
import { expect } from 'vitest';
import type { Body, BodyField, Json } from './body.ts';
import { sendByGraphql } from './graphql-body.ts';
import { DONE, type Outcome, type Send, sendByRest } from './outcome.ts';
import { withValue } from './places.ts';
import type { Rule } from './rule.ts';
import type { Scene } from './scene.ts';
import { TYPES } from './value-types.ts';

export function bodyRules(body: Body): Rule[] {
  return Object.entries(body.fields).map(([place, field]): Rule => {
    const check = (send: Send) => (scene: Scene) => checkField({ scene, body, place, field }, send);
    return {
      says: `${body.name} ${verbOf(field)} \`${shownPlace(place)}\`, ${wordsOf(field)}.`,
      rest: check(sendByRest),
      ...(!field.isRestOnly && { graphql: check(sendByGraphql) }),
    };
  });
}

const verbOf = ({ isRequired }: BodyField) =>
  isRequired ? 'needs' : isRequired === null ? 'takes' : 'may have';
const shownPlace = (place: string) => place.replaceAll('[0]', '[]');
const wordsOf = ({ is, oneOf }: BodyField) =>
  oneOf ? `one of ${oneOf.join(', ')}` : TYPES[is].words;

interface Checked {
  scene: Scene;
  body: Body;
  place: string;
  field: BodyField;
}

async function checkField({ scene, body, place, field }: Checked, send: Send) {
  const having = async () => (await (field.body ?? body.whole)(scene)) as Json;
  const outcomeOf = async (given: Json) => send(scene, body, given);
  const wrong = { [place]: TYPES[field.is].wrong };
  expect(await outcomeOf(await having()), 'with the field').toMatchObject(DONE);
  for (const value of [wrong[place], ...(field.oneOf ? ['another'] : [])]) {
    const refused = await outcomeOf(withValue(await having(), place, value));
    expectRefusal(refused, place);
  }
  for (const word of field.oneOf ?? []) {
    const { refusal } = await outcomeOf(withValue(await having(), place, word));
    expect(refusal ?? '', `${place} can be ${word}`).not.toContain(`${place}:`);
  }
  if (field.isRequired === null) return;
  const without = field.instead
    ? await field.instead(scene)
    : withValue(await having(), place, undefined);
  const outcome = await outcomeOf(without);
  if (field.isRequired) expectRefusal(outcome, place);
  else expect(outcome, 'without the field').toMatchObject(DONE);
}

function expectRefusal({ status, refusal }: Outcome, place: string) {
  expect(status, `${place}: ${refusal}`).toBe(400);
  expect(refusal).toContain(place.split(/[.[\]]+/).findLast((step) => !/^\d*$/.test(step)));
}
