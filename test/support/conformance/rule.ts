/** A rule of the API in words, and its check over each surface that has it. */
import type { Fixture } from './fixture.ts';

export type Check = (fixture: Fixture) => unknown;

export interface Rule {
  title: string;
  rest?: Check;
  graphql?: Check;
  /** The reason why the gateway does not keep the rule yet. Its checks must fail until then. */
  notYet?: string;
}

/** A behavior that the reference API leaves open, and the rule that this gateway chose. */
export interface Choice extends Rule {
  open: string;
}

export interface Section {
  title: string;
  rules: Rule[];
  choices?: Choice[];
}

interface SurfaceCheck {
  surface: 'REST' | 'GraphQL';
  check: Check;
}

export function listChecks({ rest, graphql }: Rule): SurfaceCheck[] {
  return [
    ...(rest ? [{ surface: 'REST', check: rest } as const] : []),
    ...(graphql ? [{ surface: 'GraphQL', check: graphql } as const] : []),
  ];
}

/**
 * Numbers the rules by chapter, as the document shows them and the titles of their tests cite them: 3.2 is the second
 * rule of the third chapter. The choices of all sections are the last chapter.
 */
export function numberRules(sections: readonly Section[]): Map<Rule, string> {
  const chapters = sections.map(({ rules }) => rules).filter((rules) => rules.length > 0);
  chapters.push(sections.flatMap(({ choices = [] }) => choices));
  return new Map(
    chapters.flatMap((rules, chapter) =>
      rules.map((rule, index) => [rule, `${chapter + 1}.${index + 1}`] as const),
    ),
  );
}
