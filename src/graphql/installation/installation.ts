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
import {
  createInstallationInput,
  deleteInstallationInput,
  updateInstallationInput,
} from '../../domain/installation/installation-input.ts';
import { installedObjects } from '../../domain/installation/installed-object.ts';
import { objectMetadataOfInstallation } from '../../domain/installation/object-metadata.ts';
import { latestRevisions } from '../../domain/integration/revision.ts';
import {
  createdFields,
  listField,
  projectField,
  sureLinkField,
  updateTimeField,
} from '../schema/fields.ts';
import { enumType, inputArg, uncheckedInputArg } from '../schema/inputs.ts';
import { Node } from '../schema/node-field.ts';
import { DeletePayload, payload } from '../schema/payloads.ts';
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
      type: ObjectMetadata,
      description: "An object's fields, read from the provider through the connection.",
      args: {
        objectName: t.arg.string({ required: true, description: 'Its name, mapped or not.' }),
        excludeReadOnly: t.arg.boolean({
          defaultValue: false,
          description: "Leaves out fields that can't be written.",
        }),
      },
      resolve: (installation, args, { call }) =>
        objectMetadataOfInstallation(call, { installation, ...args }),
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
  createInstallation: t.field({
    type: payload('CreateInstallationPayload', 'installation', Installation, 'The new one.'),
    description: 'Installs an integration for a group; each group has it once.',
    args: uncheckedInputArg(t.arg, createInstallationInput),
    resolve: async (_root, { input }, { call }) => ({
      installation: await createInstallation(call, input),
    }),
  }),
  updateInstallation: t.field({
    type: payload('UpdateInstallationPayload', 'installation', Installation, 'As it is now.'),
    description: 'Changes the connection or the config of an installation.',
    args: uncheckedInputArg(t.arg, updateInstallationInput),
    resolve: async (_root, { input }, { call }) => ({
      installation: await updateInstallation(call, input),
    }),
  }),
  deleteInstallation: t.field({
    type: DeletePayload,
    description: 'Deletes an installation. Its connection stays.',
    args: inputArg(t.arg, deleteInstallationInput),
    resolve: (_root, { input }, { call }) => deleteInstallation(call, input),
  }),
}));
