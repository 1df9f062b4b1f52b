/** The outcome of sending a body, in one form for both surfaces. */
import { expect } from 'vitest';
import type { Body, Json } from './body.ts';
import type { Fixture } from './fixture.ts';
import { sendByGraphql } from './graphql-body.ts';
import type { Rule } from './rule.ts';

export interface Outcome {
  status: number;
  /** The text of the error, with the paths of invalid members. Null if the body was accepted. */
  refusal: string | null;
}

export type BodyEndpoint = Omit<Body, 'name' | 'createCompleteBody' | 'fields'>;
export type Send = (fixture: Fixture, body: BodyEndpoint, payload: Json) => Promise<Outcome>;

export const ACCEPTED = {
  status: expect.toSatisfy((status: number) => status < 300),
  refusal: null,
};

/** Matches a refusal whose text contains `text`, such as the path of the invalid member. */
export const matchRefusal = (text: string, status = 400) => ({
  status,
  refusal: expect.stringContaining(text),
});

export const sendByRest: Send = async (fixture, { send }, payload) => {
  const { status, body } = await send(fixture, payload);
  if (status < 400) return { status, refusal: null };
  const issues: { in: string; name: string; detail: string }[] = body.issues ?? [];
  expect(issues.map((issue) => issue.in)).not.toContain('path');
  const issueTexts = issues.map(({ name, detail }) => `${name}: ${detail}`);
  const { detail = JSON.stringify(body) } = body;
  return { status, refusal: [detail, ...issueTexts].join(' ') };
};

type CheckOutcomes = (
  sendBody: (body: Json) => Promise<Outcome>,
  fixture: Fixture,
) => Promise<unknown>;

/** Returns a rule about a body, checked over the REST endpoint and over the mutation. */
export function createOutcomeRule(title: string, body: BodyEndpoint, check: CheckOutcomes): Rule {
  const checkOver = (send: Send) => (fixture: Fixture) =>
    check((payload) => send(fixture, body, payload), fixture);
  return { title, rest: checkOver(sendByRest), graphql: checkOver(sendByGraphql) };
}
