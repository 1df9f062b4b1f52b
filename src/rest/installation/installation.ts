import { z } from 'zod';
import { within } from '../../domain/declared-read.ts';
import {
  createInstallation,
  deleteInstallation,
  getInstallation,
  getInstallationOf,
  installationFilters,
  listInstallations,
  listInstallationsOfIntegration,
  updateInstallation,
} from '../../domain/installation/installation.ts';
import { deleteInstallationInput } from '../../domain/installation/installation-input.ts';
import { getNamedIntegration, integrationIdOrName } from '../../domain/integration/integration.ts';
import { projectIdOrName } from '../../domain/names.ts';
import { getOwnProject } from '../../domain/project/project.ts';
import { listEndpoint } from '../endpoint/list.ts';
import { mutationEndpoint, noBody } from '../endpoint/mutation-endpoint.ts';
import type { Place } from '../endpoint/places.ts';
import { readEndpoint } from '../endpoint/read-endpoint.ts';
import { installation, showInstallation } from './installation-view.ts';

const tag = 'Installations';
const path = '/projects/{projectIdOrName}/integrations/{integrationId}/installations';
const ofIntegration: Record<'integrationIdOrName', Place> = {
  integrationIdOrName: { in: 'path', name: 'integrationId' },
};
const config: Place = { in: 'body', name: 'config.content' };

export const installationEndpoints = [
  listEndpoint({
    id: 'listProjectInstallations',
    path: '/projects/{projectIdOrName}/installations',
    tag,
    summary: 'Lists installations of all integrations, newest first.',
    input: z.object({ projectIdOrName, ...installationFilters.shape }),
    item: installation,
    list: within(getOwnProject, listInstallations),
    show: showInstallation,
  }),
  listEndpoint({
    id: 'listInstallations',
    path,
    tag,
    summary: "Lists an integration's installations, newest first.",
    input: z.object({ projectIdOrName, integrationIdOrName, ...installationFilters.shape }),
    places: ofIntegration,
    item: installation,
    list: within(getNamedIntegration, listInstallationsOfIntegration),
    show: showInstallation,
  }),
  mutationEndpoint({
    id: 'createInstallation',
    method: 'POST',
    path,
    tag,
    summary: 'Installs an integration for a group. A group can have an integration once.',
    mutation: createInstallation,
    places: { ...ofIntegration, config },
    status: 201,
    output: installation,
    show: showInstallation,
  }),
  readEndpoint({
    id: 'getInstallation',
    path: `${path}/{installationId}`,
    tag,
    summary: 'Gets an installation.',
    input: z.object({ ...deleteInstallationInput.shape, integrationIdOrName }),
    places: ofIntegration,
    read: getInstallation,
    output: installation,
    show: showInstallation,
  }),
  mutationEndpoint({
    id: 'updateInstallation',
    method: 'PATCH',
    path: `${path}/{installationId}`,
    tag,
    summary: 'Changes the connection or the whole config of an installation.',
    mutation: updateInstallation,
    beside: { integrationIdOrName },
    before: ({ call }, input) => getInstallationOf(call, input),
    places: { ...ofIntegration, config },
    mask: 'installation',
    status: 200,
    output: installation,
    show: showInstallation,
  }),
  mutationEndpoint({
    id: 'deleteInstallation',
    method: 'DELETE',
    path: `${path}/{installationId}`,
    tag,
    summary: 'Deletes an installation. Its connection and its operations stay.',
    mutation: deleteInstallation,
    beside: { integrationIdOrName },
    before: ({ call }, input) => getInstallationOf(call, input),
    places: ofIntegration,
    status: 204,
    output: null,
    show: noBody,
  }),
];
