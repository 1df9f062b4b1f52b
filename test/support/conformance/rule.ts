/** A rule of the API in words, and how it is checked over each surface that has it. */
import type { Scene } from './scene.ts';

export type Check = (scene: Scene) => unknown;

export interface Rule {
  says: string;
  rest?: Check;
  graphql?: Check;
  /** Why the gateway doesn't keep it yet: its checks have to fail until then. */
  notYet?: string;
}

/** What the platform leaves open, and the rule that this gateway has for it. */
export interface Choice extends Rule {
  open: string;
}

export interface Section {
  title: string;
  rules: Rule[];
  choices?: Choice[];
}

export interface SurfaceCheck {
  surface: 'REST' | 'GraphQL';
  check: Check;
}

export function checksOf({ rest, graphql }: Rule): SurfaceCheck[] {
  return [
    ...(rest ? [{ surface: 'REST', check: rest } as const] : []),
    ...(graphql ? [{ surface: 'GraphQL', check: graphql } as const] : []),
  ];
}
