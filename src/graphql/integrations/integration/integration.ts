import { listConnectInputs } from '../../../domain/integrations/integration/connect-inputs.ts';
import {
  createIntegration,
  EXCLUSIVE_INTEGRATION_FILTERS,
  findRequestedIntegration,
  integrationFilters,
  integrationResource,
  listIntegrations,
} from '../../../domain/integrations/integration/integration.ts';
import { deleteIntegration } from '../../../domain/integrations/integration/integration-deletion.ts';
import { upsertIntegrations } from '../../../domain/integrations/integration/integration-upsert.ts';
import { ProviderInput } from '../../connections/provider/provider.ts';
import { describeField, requiredLinkField } from '../../schema/fields.ts';
import { addList } from '../../schema/lists.ts';
import { addDeletions, addMutation, describeResult } from '../../schema/mutations.ts';
import { objectType } from '../../schema/object-type.ts';
import { builder } from '../../schema/schema-builder.ts';
import { Integration, Project, Revision } from '../../schema/types.ts';
import { impactsField, warningsField } from './revision.ts';

objectType(Integration, integrationResource, (t) => ({
  latestRevision: requiredLinkField(t, {
    type: Revision,
    table: 'Revision',
    column: 'latestRevisionId',
    description: 'The revision that is active for all installations.',
  }),
  connectInputs: t.field({
    type: [ProviderInput],
    description:
      'The values that connecting needs in `providerMetadata`, in addition to credentials and workspace: those of the provider, and those of the module of the latest revision.',
    resolve: (integration, _args, { call }) => listConnectInputs(call, integration),
  }),
}));

builder.objectFields(Project, (t) => ({
  integration: t.field({
    ...describeField(findRequestedIntegration),
    type: Integration,
    nullable: true,
    args: {
      idOrName: t.arg.string({
        required: true,
        description: 'The id of the integration, or its name (case-sensitive).',
      }),
    },
    resolve: (project, { idOrName }, { call }) => findRequestedIntegration(call, project, idOrName),
  }),
}));

addList(Project, 'integrations', Integration, listIntegrations, {
  filters: integrationFilters,
  exclusive: EXCLUSIVE_INTEGRATION_FILTERS,
});

const CreateIntegrationPayload = builder
  .objectRef<Awaited<ReturnType<typeof createIntegration>>>('CreateIntegrationPayload')
  .implement({
    description: describeResult('createIntegration'),
    fields: (t) => ({
      integration: t.expose('integration', {
        type: Integration,
        description: 'The integration. Pass its id or name as `integrationIdOrName`.',
      }),
      warnings: warningsField(t),
    }),
  });

const UpsertIntegrationsPayload = builder
  .objectRef<Awaited<ReturnType<typeof upsertIntegrations>>>('UpsertIntegrationsPayload')
  .implement({
    description: describeResult('upsertIntegrations'),
    fields: (t) => ({
      integrations: t.expose('integrations', {
        type: [Integration],
        description: 'The integrations, in the order of the input.',
      }),
      warnings: warningsField(t),
      impacts: impactsField(t),
    }),
  });

addMutation('upsertIntegrations', upsertIntegrations, UpsertIntegrationsPayload);
addMutation('createIntegration', createIntegration, CreateIntegrationPayload);
addDeletions({ deleteIntegration });
