/** The state that a project should have: a document, with the names of the project. */
import { z } from 'zod';
import { invalidInput } from '../../kernel/errors.ts';
import { createInputIssue } from '../base/issues.ts';
import { enumeration } from '../base/resource.ts';
import type { ParsedDocument } from './project-document.ts';
import type { ProjectState } from './project-state.ts';

const renameKind = enumeration(
  'RenameKind',
  'A kind of object that a document refers to by name.',
  {
    DESTINATION: 'A destination.',
    PROVIDER_APP: 'A provider app, by its external reference or its client id.',
  },
);

export const renameInput = z
  .object({
    kind: renameKind.describe('The kind of the object.'),
    from: z.string().min(1).max(1_024).describe('The name in the document.'),
    to: z.string().min(1).max(1_024).describe('The name in the project.'),
  })
  .meta({
    id: 'PlanRenameInput',
    description:
      'A name of the document that stands for an object of the project. A renamed destination must exist in the project, and the plan does not change it.',
  });

type Rename = z.output<typeof renameInput>;

/** The desired state of a project: the document after renames. */
export interface DesiredState {
  document: ParsedDocument;
  /** Destinations to which the document only refers. They stay unchanged. */
  references: ReadonlySet<string>;
  allowDeletions: boolean;
}

/** Applies the renames. Throws BAD_USER_INPUT for a destination that the project does not have. */
export function createDesiredState(
  document: ParsedDocument,
  { renames, allowDeletions }: { renames: readonly Rename[]; allowDeletions: boolean },
  { items }: Pick<ProjectState, 'items'>,
): DesiredState {
  const mapNewNames = (kind: Rename['kind']) =>
    new Map(renames.filter((rename) => rename.kind === kind).map(({ from, to }) => [from, to]));
  const destinationNames = mapNewNames('DESTINATION');
  const appNames = mapNewNames('PROVIDER_APP');
  const issues = renames.flatMap(({ kind, to }, index) =>
    kind === 'DESTINATION' && !items.has(`destinations.${to}`)
      ? createInputIssue(['renames', index, 'to'], 'is not a destination of the project.', to)
      : [],
  );
  if (issues.length > 0) throw invalidInput(issues);
  const getDestinationName = (name: string) => destinationNames.get(name) ?? name;
  const renameDestination = <T extends { destination?: string | null }>(object: T): T =>
    object.destination == null
      ? object
      : { ...object, destination: getDestinationName(object.destination) };
  return {
    allowDeletions,
    references: new Set(destinationNames.values()),
    document: {
      ...document,
      providerApps: document.providerApps?.map((app) => ({
        ...app,
        name: appNames.get(app.name) ?? app.name,
      })),
      destinations: document.destinations?.map((destination) => ({
        ...destination,
        name: getDestinationName(destination.name),
      })),
      topics: document.topics?.map((topic) => ({
        ...topic,
        destinations: topic.destinations.map(getDestinationName),
      })),
      integrations: document.integrations?.map(({ read, subscribe, watchSchema, ...content }) => ({
        ...content,
        read: read && { objects: read.objects.map(renameDestination) },
        subscribe: subscribe && { objects: subscribe.objects.map(renameDestination) },
        watchSchema: watchSchema && renameDestination(watchSchema),
      })),
    },
  };
}
