import {
  createInstallation,
  deleteInstallation,
  listInstallations,
  listInstallationsOfIntegration,
  updateInstallation,
} from '../../domain/installation/installation.ts';
import {
  installationHealth,
  lastOperations,
} from '../../domain/installation/installation-health.ts';
import { installedObjects } from '../../domain/installation/installed-object.ts';
import {
  metadataOptions,
  objectMetadataOfInstallation,
} from '../../domain/installation/object-metadata.ts';
import { latestRevisions } from '../../domain/integration/revision.ts';
import {
  createdFields,
  listField,
  projectField,
  sureLinkField,
  updateTimeField,
} from '../schema/fields.ts';
import { enumType } from '../schema/inputs.ts';
import { mutationField } from '../schema/mutation-field.ts';
import { needing } from '../schema/needing.ts';
import { Node } from '../schema/node-field.ts';
import { parsedArgs } from '../schema/parsed-args.ts';
import { answer, DeletePayload } from '../schema/payloads.ts';
import { builder } from '../schema/schema-builder.ts';
import {
  ConnectedAccount,
  Group,
  Installation,
  InstallationConfig,
  Installations,
  Integration,
  Operation,
  Project,
  Revision,
} from '../schema/types.ts';
import { InstalledObject } from './installed-object.ts';
import { ObjectMetadata } from './object-metadata.ts';

const InstallationHealth = enumType('InstallationHealth', 'How an installation is doing.', {
  HEALTHY: 'Nothing is known to be wrong.',
  UNHEALTHY: 'Its connection is BAD_CREDENTIALS, or its last three operations failed.',
});

Installation.implement({
  description: 'An integration that a group uses, through one connection.',
  interfaces: [Node],
  fields: (t) => ({
    ...createdFields(t),
    project: projectField(t),
    integration: sureLinkField(t, {
      type: Integration,
      table: 'Integration',
      column: 'integrationId',
      description: 'The integration that is installed.',
    }),
    revision: t.field({
      type: Revision,
      description: "The integration's latest revision, which is in force.",
      resolve: ({ integrationId }, _args, { get }) => get(latestRevisions, integrationId),
    }),
    group: sureLinkField(t, {
      type: Group,
      table: 'Group',
      column: 'groupId',
      description: 'The group that uses it.',
    }),
    connection: sureLinkField(t, {
      type: ConnectedAccount,
      table: 'Connection',
      column: 'connectionId',
      description: 'The connection that it works through.',
    }),
    config: sureLinkField(t, {
      type: InstallationConfig,
      table: 'InstallationConfig',
      column: 'configId',
      description: "The customer's choices that are in force.",
    }),
    healthStatus: t.field({
      type: InstallationHealth,
      description: 'How it is doing.',
      resolve: ({ id }, _args, { get }) => get(installationHealth, id),
    }),
    lastOperation: t.field({
      type: Operation,
      nullable: true,
      description: 'Its newest operation.',
      resolve: ({ id }, _args, { find }) => find(lastOperations, id),
    }),
    objects: t.field({
      type: [InstalledObject],
      description: 'The objects that its config reads, by name, and how far they are read.',
      resolve: ({ id }, _args, { get }) => get(installedObjects, id),
    }),
    objectMetadata: t.field({
      ...needing(
        objectMetadataOfInstallation,
        "An object's fields, read from the provider through the connection.",
      ),
      type: ObjectMetadata,
      args: parsedArgs(t.arg, metadataOptions),
      resolve: (installation, options, { call }) =>
        objectMetadataOfInstallation(call, installation, options),
    }),
    createdBy: t.exposeString('createdBy', {
      description: 'Who made it: api:<key id> or builder:<id>.',
    }),
    updateTime: updateTimeField(t),
  }),
});

const groupRef = 'Only the group of this ref.';

builder.objectField(Project, 'installations', (t) =>
  listField(t, Installations, {
    description: 'Installations of all integrations, newest first.',
    args: { groupRef: t.arg.string({ description: groupRef }) },
    list: listInstallations,
  }),
);

builder.objectField(Integration, 'installations', (t) =>
  listField(t, Installations, {
    description: 'Its installations, newest first.',
    args: { groupRef: t.arg.string({ description: groupRef }) },
    list: listInstallationsOfIntegration,
  }),
);

builder.mutationFields((t) => ({
  createInstallation: mutationField(t, createInstallation, {
    type: answer('CreateInstallationPayload', 'installation', Installation, 'The new one.'),
    description: 'Installs an integration for a group; each group has it once.',
  }),
  updateInstallation: mutationField(t, updateInstallation, {
    type: answer('UpdateInstallationPayload', 'installation', Installation, 'As it is now.'),
    description: 'Changes the connection or the config of an installation.',
  }),
  deleteInstallation: mutationField(t, deleteInstallation, {
    type: DeletePayload,
    description: 'Deletes an installation. Its connection stays.',
  }),
}));
