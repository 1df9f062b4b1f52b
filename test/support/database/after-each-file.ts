/** Runs for each file: whoever adds a statement says whose rows it means. */
import { afterAll } from 'vitest';
import { missingProjects } from './project-conditions.ts';
import { takeSent } from './statements.ts';

afterAll(expectProjectsNamed);

const READ = new Map<string, string[]>();

function expectProjectsNamed(): void {
  const lacking = takeSent().flatMap((text) => {
    const missing = READ.get(text) ?? missingProjects(text);
    READ.set(text, missing);
    return missing.length > 0 ? `It ${missing.join(', and ')} of all projects: ${text}` : [];
  });
  if (lacking.length > 0) throw new Error(lacking.join('\n'));
}
