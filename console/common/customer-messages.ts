/** Texts for customers: of the connect page, and of the gateway's pages of an OAuth connect. */
import { getLanguage, type Language } from './languages.ts';

const en = {
  title: (app: string) => `Connect with ${app}`,
  accountsFor: (group: string) => `Connect accounts for ${group}`,
  noIntegrations: 'No integrations yet',
  connectedBy: 'Connected by Integration gateway',
  done: 'Done',
  back: 'Back',
  cancel: 'Cancel',
  notConnectedBecause: (reason: string) => `The account was not connected: ${reason}`,

  incompleteLink: 'This link is incomplete',
  expiredLink: 'This link has expired',
  openAgain: 'Go back to the app that sent you here and open the page again.',
  validFor:
    'Links are valid for a few minutes. Go back to the app that sent you here and open the page again.',
  notFramed: "This page can't be shown here",
  openAlone: 'Open it in its own window.',
  forEndUsers: 'This page is for end users',
  noAccounts: "A backend's key has no accounts. Open the page with the token of an end user.",

  connected: 'Connected',
  notConnected: 'Not connected',
  badCredentials: 'Bad credentials',
  rejectedCredentials: 'The provider rejected these credentials. Reconnect your account.',
  connectTo: (provider: string) => `Connect ${provider}`,
  reconnectTo: (provider: string) => `Reconnect ${provider}`,
  connectAnother: 'Connect another account',
  disconnect: 'Disconnect',
  disconnectFrom: (provider: string) => `Disconnect ${provider}?`,
  disconnectEnds: 'Reads and writes of this account stop. You can connect it again later.',

  howToConnect: 'How to connect',
  workspace: 'Workspace',
  workspaceHelp: (address: string) => `Your part of the URL: ${address}`,
  helpFrom: (provider: string) => `Help from ${provider}`,
  connect: 'Connect',
  continueTo: (provider: string) => `Continue to ${provider}`,

  opensWindow: 'The provider opens in a new window. Sign in and approve access.',
  awaitsApproval: 'Waiting for your approval in the other window…',
  closedWindow: 'The window was closed before an account was connected. Open it again to continue.',
  installFirst: 'If the provider refuses the app, install its package in your account first:',
  installPackage: 'Install package',
  installPackageOf: (app: string) =>
    `Install the package of ${app}, if your account does not have it yet.`,
  continueHere: 'Continue in this window',
  openWindow: 'Open window',
  reopenWindow: 'Reopen window',

  confirmAccess: (app: string, provider: string) =>
    `You are about to give ${app} access to your ${provider} account, on behalf of:`,
  app: 'App',
  organization: 'Organization',
  user: 'User',
  confirmParties:
    'Continue only if this is your organization and you expected this request. Otherwise close this page: that organization would get access to the data of your account.',
  accessDenied: 'The provider denied access.',
  closeWindow: 'You can close this window.',
  usedLink: 'This link has already been used, or it has expired.',
  otherBrowser:
    'Nothing was connected, because the connect was started in another browser, or this browser does not accept cookies.',
  connectAgain: 'Go back to the app that sent you here and connect again.',

  start: 'Start',
  healthy: 'Healthy',
  unhealthy: 'Unhealthy',
  progressOf: (name: string) => `Progress of ${name}`,
  lastRead: 'last read',
  startsFirstRead: 'starting the first read',
  readNow: 'Read now',

  approvalTitle: (app: string) => `Approve changes in ${app}`,
  approvalsFor: (group: string) => `Approvals for ${group}`,
  waitsForApproval: 'Waiting for your approval',
  nothingWaits: 'Nothing waits for your approval.',
  createRecord: (object: string) => `Create a record: ${object}`,
  updateRecord: (object: string) => `Change a record: ${object}`,
  deleteRecord: (object: string) => `Delete a record: ${object}`,
  proposedBy: (agent: string) => `Proposed by ${agent}`,
  record: (id: string) => `record ${id}`,
  expires: 'expires',
  approve: 'Approve',
  reject: 'Reject',
  reason: 'Reason',
  reasonHelp: 'Optional. The app and the agent that proposed this can read it.',
  approved: 'Approved',
  rejected: 'Rejected',
  isApproved: 'This was approved already.',
  isRejected: 'This was rejected. It is not carried out.',
  isCommitted: 'This was approved and carried out.',
  isExpired: 'This has expired. It is not carried out.',
  isStale: 'The record has changed since this was proposed, so it was not carried out.',
  isSelfApproval: 'You proposed this yourself, so another person must approve it.',
  isMissing: 'This request no longer exists.',

  apiKey: 'API key',
  apiKeyHelp: "You find it in your account's settings.",
  userName: 'User name',
  password: 'Password',
  clientId: 'Client ID',
  clientSecret: 'Client secret',
  byApiKey: 'With an API key',
  byPassword: 'With a user name and a password',
  byConsent: 'By signing in at the provider',
  byClient: 'With a client ID and its secret',
  byPasswordAndClient: 'With a user name, a password and a client',
  byNothing: 'Without credentials',
  byCustomInputs: "With credentials of the provider's own kind",

  tooManyAttempts: 'Too many attempts. Try again in a minute.',
  unavailable: 'Not available',
  notAvailable: 'The service is not available at the moment. Try again in a few seconds.',
  expiredSession:
    'This link has expired. Go back to the app that sent you here and open the page again.',
  ourFault:
    'Something is wrong on our side. Try again later, or contact the app that sent you here.',
};

export type Messages = typeof en;

const de: Messages = {
  title: (app) => `Mit ${app} verbinden`,
  accountsFor: (group) => `Konten für ${group} verbinden`,
  noIntegrations: 'Noch keine Integrationen',
  connectedBy: 'Verbunden durch Integration gateway',
  done: 'Fertig',
  back: 'Zurück',
  cancel: 'Abbrechen',
  notConnectedBecause: (reason) => `Das Konto wurde nicht verbunden: ${reason}`,

  incompleteLink: 'Dieser Link ist unvollständig',
  expiredLink: 'Dieser Link ist abgelaufen',
  openAgain: 'Kehren Sie zur App zurück, von der Sie kommen, und öffnen Sie die Seite erneut.',
  validFor:
    'Links gelten nur wenige Minuten. Kehren Sie zur App zurück, von der Sie kommen, und öffnen Sie die Seite erneut.',
  notFramed: 'Diese Seite kann hier nicht angezeigt werden',
  openAlone: 'Öffnen Sie sie in einem eigenen Fenster.',
  forEndUsers: 'Diese Seite ist für Endnutzer',
  noAccounts:
    'Der Schlüssel eines Backends hat keine Konten. Öffnen Sie die Seite mit dem Token eines Endnutzers.',

  connected: 'Verbunden',
  notConnected: 'Nicht verbunden',
  badCredentials: 'Ungültige Zugangsdaten',
  rejectedCredentials:
    'Der Anbieter hat diese Zugangsdaten abgelehnt. Verbinden Sie Ihr Konto erneut.',
  connectTo: (provider) => `${provider} verbinden`,
  reconnectTo: (provider) => `${provider} erneut verbinden`,
  connectAnother: 'Anderes Konto verbinden',
  disconnect: 'Trennen',
  disconnectFrom: (provider) => `${provider} trennen?`,
  disconnectEnds:
    'Aus diesem Konto wird nicht mehr gelesen, und es wird nicht mehr hineingeschrieben. Sie können es später wieder verbinden.',

  howToConnect: 'Art der Verbindung',
  workspace: 'Workspace',
  workspaceHelp: (address) => `Ihr Teil der URL: ${address}`,
  helpFrom: (provider) => `Hilfe von ${provider}`,
  connect: 'Verbinden',
  continueTo: (provider) => `Weiter zu ${provider}`,

  opensWindow:
    'Der Anbieter öffnet sich in einem neuen Fenster. Melden Sie sich dort an und stimmen Sie dem Zugriff zu.',
  awaitsApproval: 'Warten auf Ihre Zustimmung im anderen Fenster …',
  closedWindow:
    'Das Fenster wurde geschlossen, bevor ein Konto verbunden war. Öffnen Sie es erneut, um fortzufahren.',
  installFirst:
    'Wenn der Anbieter die App ablehnt, installieren Sie zuerst ihr Paket in Ihrem Konto:',
  installPackage: 'Paket installieren',
  installPackageOf: (app) =>
    `Installieren Sie das Paket von ${app}, wenn Ihr Konto es noch nicht hat.`,
  continueHere: 'In diesem Fenster fortfahren',
  openWindow: 'Fenster öffnen',
  reopenWindow: 'Fenster erneut öffnen',

  confirmAccess: (app, provider) =>
    `Sie sind dabei, ${app} den Zugriff auf Ihr Konto bei ${provider} zu erlauben, und zwar für:`,
  app: 'App',
  organization: 'Organisation',
  user: 'Benutzer',
  confirmParties:
    'Fahren Sie nur fort, wenn dies Ihre Organisation ist und Sie diese Anfrage erwartet haben. Schließen Sie sonst diese Seite: Diese Organisation bekäme Zugriff auf die Daten Ihres Kontos.',
  accessDenied: 'Der Anbieter hat den Zugriff verweigert.',
  closeWindow: 'Sie können dieses Fenster schließen.',
  usedLink: 'Dieser Link wurde bereits verwendet, oder er ist abgelaufen.',
  otherBrowser:
    'Es wurde nichts verbunden, weil die Verbindung in einem anderen Browser begonnen wurde oder dieser Browser keine Cookies annimmt.',
  connectAgain:
    'Kehren Sie zur App zurück, von der Sie kommen, und verbinden Sie das Konto erneut.',

  start: 'Starten',
  healthy: 'In Ordnung',
  unhealthy: 'Gestört',
  progressOf: (name) => `Fortschritt von ${name}`,
  lastRead: 'zuletzt gelesen',
  startsFirstRead: 'erstes Lesen beginnt',
  readNow: 'Jetzt lesen',

  approvalTitle: (app) => `Änderungen in ${app} genehmigen`,
  approvalsFor: (group) => `Genehmigungen für ${group}`,
  waitsForApproval: 'Wartet auf Ihre Genehmigung',
  nothingWaits: 'Nichts wartet auf Ihre Genehmigung.',
  createRecord: (object) => `Datensatz anlegen: ${object}`,
  updateRecord: (object) => `Datensatz ändern: ${object}`,
  deleteRecord: (object) => `Datensatz löschen: ${object}`,
  proposedBy: (agent) => `Vorgeschlagen von ${agent}`,
  record: (id) => `Datensatz ${id}`,
  expires: 'läuft ab',
  approve: 'Genehmigen',
  reject: 'Ablehnen',
  reason: 'Begründung',
  reasonHelp: 'Optional. Die App und der Agent, der dies vorgeschlagen hat, können sie lesen.',
  approved: 'Genehmigt',
  rejected: 'Abgelehnt',
  isApproved: 'Dies wurde bereits genehmigt.',
  isRejected: 'Dies wurde abgelehnt. Es wird nicht ausgeführt.',
  isCommitted: 'Dies wurde genehmigt und ausgeführt.',
  isExpired: 'Dies ist abgelaufen. Es wird nicht ausgeführt.',
  isStale:
    'Der Datensatz hat sich seit dem Vorschlag geändert. Deshalb wurde dies nicht ausgeführt.',
  isSelfApproval:
    'Sie haben dies selbst vorgeschlagen. Deshalb muss es eine andere Person genehmigen.',
  isMissing: 'Diese Anfrage gibt es nicht mehr.',

  apiKey: 'API-Schlüssel',
  apiKeyHelp: 'Sie finden ihn in den Einstellungen Ihres Kontos.',
  userName: 'Benutzername',
  password: 'Passwort',
  clientId: 'Client-ID',
  clientSecret: 'Client-Secret',
  byApiKey: 'Mit einem API-Schlüssel',
  byPassword: 'Mit Benutzername und Passwort',
  byConsent: 'Durch Anmeldung beim Anbieter',
  byClient: 'Mit einer Client-ID und ihrem Secret',
  byPasswordAndClient: 'Mit Benutzername, Passwort und Client',
  byNothing: 'Ohne Zugangsdaten',
  byCustomInputs: 'Mit eigenen Zugangsdaten des Anbieters',

  tooManyAttempts: 'Zu viele Versuche. Versuchen Sie es in einer Minute erneut.',
  unavailable: 'Nicht erreichbar',
  notAvailable:
    'Der Dienst ist gerade nicht erreichbar. Versuchen Sie es in einigen Sekunden erneut.',
  expiredSession:
    'Dieser Link ist abgelaufen. Kehren Sie zur App zurück, von der Sie kommen, und öffnen Sie die Seite erneut.',
  ourFault:
    'Bei uns stimmt etwas nicht. Versuchen Sie es später erneut, oder wenden Sie sich an die App, von der Sie kommen.',
};

const MESSAGES: Record<Language, Messages> = { en, de };

export function getMessages(locale: string): Messages {
  return MESSAGES[getLanguage(locale)];
}
