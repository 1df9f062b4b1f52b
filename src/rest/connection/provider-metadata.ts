/** Facts of an account, as the platform shows them: each with where it comes from. */
import { z } from 'zod';

const SOURCES = ['input', 'token', 'provider'] as const;

const fact = z.object({
  value: z.string().describe('The fact; as JSON if it is no text.'),
  source: z
    .enum(SOURCES)
    .describe('Whether the builder gave it, the token answer told it or the provider.'),
  displayName: z.string().optional().describe('The name that people see.'),
});

export const providerMetadata = z
  .record(z.string(), fact)
  .optional()
  .describe('Further facts of the account, from the builder and the provider, by name.');

type Fact = z.output<typeof fact>;

/** Callers give facts with their source, or plain: a plain one is the builder's. */
export function showProviderMetadata(stored: unknown): Record<string, Fact> | undefined {
  if (typeof stored !== 'object' || stored === null) return undefined;
  return Object.fromEntries(Object.entries(stored).map(([name, given]) => [name, showFact(given)]));
}

function showFact(given: unknown): Fact {
  const { data } = fact.safeParse(given);
  if (data) return data;
  return { value: typeof given === 'string' ? given : JSON.stringify(given), source: 'input' };
}
