/** A read declares the rights that its callers need and its description in the API. Every call checks the rights. */

import type { Row } from '../../database/statements/tables.ts';
import type { Call, ProjectCall } from './call.ts';
import { inProject } from './catalog.ts';
import { getProjectOfInput, type ProjectReference } from './input-project.ts';
import { authorize, type Need } from './viewer/needs.ts';

export interface Read<A extends unknown[], R> {
  (call: Call, ...args: A): R;
  readonly needs: Need;
  readonly description: string;
  /** The number of requests to a provider that the read counts as. Absent if it sends none. */
  readonly providerCalls?: number;
}

/** Declares a read. It throws FORBIDDEN before it reads anything if the caller lacks `needs`. */
export function read<A extends unknown[], R>(
  needs: Need,
  description: string,
  run: (call: Call, ...args: A) => R,
): Read<A, R> {
  const runAuthorized = (call: Call, ...args: A): R => {
    authorize(call.viewer, needs);
    return run(call, ...args);
  };
  return Object.assign(runAuthorized, { needs, description });
}

/**
 * Declares a read that sends a request to a provider. It throws RATE_LIMITED before it reads anything if too many
 * requests of the caller wait for providers.
 */
export function providerRead<A extends unknown[], R>(
  needs: Need,
  description: string,
  run: (call: Call, ...args: A) => R,
): Read<A, R> {
  const declared = read(needs, description, (call, ...args: A) => {
    call.slot?.requireProviderShare();
    return run(call, ...args);
  });
  return Object.assign(declared, { providerCalls: 1 });
}

/** Combines two reads: `find` returns the parent that the input names, and `list` reads the parent's items. */
export function readWithin<I, P, A, R>(
  find: Read<[input: I], P | Promise<P>>,
  list: Read<[parent: P, args: A], R | Promise<R>>,
): Read<[input: I & A], Promise<R>> {
  return read(list.needs, list.description, async (call, input) =>
    list(call, await find(call, input), input),
  );
}

/** Declares a read in the project that `getProjectOfInput` returns for its input. */
export function projectRead<I, R>(
  needs: Need,
  description: string,
  run: (call: ProjectCall, input: I, project: Readonly<Row<'Project'>>) => R | Promise<R>,
): Read<[input: I & ProjectReference], Promise<R>> {
  return read(needs, description, async (call, input: I & ProjectReference) => {
    const project = await getProjectOfInput(call, input);
    return run(await inProject(call, project.id), input, project);
  });
}

/**
 * Turns a read of a project's items into a read in the project of its input. Unlike `readWithin`, it does not require
 * that callers may read the project itself.
 */
export function readInProject<A, R>(
  list: Read<[project: Readonly<Row<'Project'>>, args: A], R | Promise<R>>,
): Read<[input: A & ProjectReference], Promise<R>> {
  return projectRead(list.needs, list.description, (call, input: A, project) =>
    list(call, project, input),
  );
}
