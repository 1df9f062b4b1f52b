/** Modules with objects of their own, as declared providers, so that servers can be generated for them. */
import type { DeclaredProvider } from '../../../src/providers/declarative/declarative-provider.ts';
import { zohoDeskApi } from '../../../src/providers/declared/crm/zoho-desk.ts';
import { engagementApi } from '../../../src/providers/salesforce/account-engagement.ts';

interface ModuleVendor {
  declaration: DeclaredProvider;
  /** The metadata that the module's address and headers need. */
  metadata: Record<string, string>;
}

const createDeclaration = (
  { name, displayName }: Pick<DeclaredProvider, 'name' | 'displayName'>,
  api: DeclaredProvider['api'],
): DeclaredProvider => ({
  name,
  displayName,
  baseUrl: 'https://module.example',
  authSchemes: ['API_KEY'],
  apiKey: { in: 'header', name: 'Authorization', valuePrefix: 'Bearer ' },
  api,
});

export const engagementVendor: ModuleVendor = {
  declaration: createDeclaration(
    { name: 'accountEngagement', displayName: 'Account Engagement' },
    engagementApi,
  ),
  metadata: { businessUnitId: '0UvA' },
};

export const deskVendor: ModuleVendor = {
  declaration: createDeclaration({ name: 'zohoDesk', displayName: 'Zoho Desk' }, zohoDeskApi),
  metadata: { zoho_desk_domain: 'desk.zoho.com', zoho_desk_org_id: '2389290' },
};
