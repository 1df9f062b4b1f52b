/** Tests that a project document holds every value that builders configure. An export would lose any other value. */
import { expect, test } from 'vitest';
import { createDestination, updateDestination } from '../../src/domain/events/destination.ts';
import { createTopic, updateTopic } from '../../src/domain/events/topic.ts';
import {
  createProvider,
  updateProvider,
} from '../../src/domain/integrations/custom-provider/custom-provider.ts';
import { projectDocument } from '../../src/domain/plan/project-document.ts';
import { createJwtKey, updateJwtKey } from '../../src/domain/tenants/project/jwt-key.ts';
import { updateProject } from '../../src/domain/tenants/project/project.ts';

const { shape } = projectDocument;

const IDENTITY = 'A document is applied to any project, and has no ids.';

/** The part of the document for each resource, and the input members that the part omits, each with the reason. */
const RESOURCES = [
  {
    name: 'project',
    mutations: [updateProject],
    members: { ...shape, ...shape.appearance.unwrap().shape },
    omitted: { projectIdOrName: IDENTITY, name: IDENTITY },
  },
  {
    name: 'destination',
    mutations: [createDestination, updateDestination],
    members: shape.destinations.unwrap().element.shape,
    omitted: {
      projectIdOrName: IDENTITY,
      destinationId: IDENTITY,
      keepHeaders: 'It chooses how an update treats the stored headers.',
    },
  },
  {
    name: 'topic',
    mutations: [createTopic, updateTopic],
    members: shape.topics.unwrap().element.shape,
    omitted: { projectIdOrName: IDENTITY, topicId: IDENTITY },
  },
  {
    name: 'JWT key',
    mutations: [createJwtKey, updateJwtKey],
    members: shape.jwtKeys.unwrap().element.shape,
    omitted: { projectIdOrName: IDENTITY, jwtKeyId: IDENTITY },
  },
  {
    name: 'custom provider',
    mutations: [createProvider, updateProvider],
    members: shape.customProviders.unwrap().element.shape,
    omitted: {
      projectIdOrName: IDENTITY,
      customProviderId: IDENTITY,
      destructive: 'A plan has `allowDeletions` instead.',
    },
  },
];

test.each(RESOURCES)('a document holds the configuration of a $name', (resource) => {
  const { mutations, members, omitted } = resource;
  const inputNames = new Set(mutations.flatMap(({ input }) => Object.keys(input.shape)));
  const missingNames = [...inputNames].filter((name) => !(name in members) && !(name in omitted));
  expect(missingNames, 'Add them to project-document.ts, or the reason to `omitted`.').toEqual([]);
  expect(Object.keys(omitted).filter((name) => !inputNames.has(name))).toEqual([]);
});
