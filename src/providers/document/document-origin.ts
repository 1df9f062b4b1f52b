/** Identifies the document that describes a custom provider. */
export interface DocumentOrigin {
  /** The only project that has the provider. */
  projectId: string;
  /** Identifies the document and its version. */
  revision: string;
  /** A hash of the addresses to which credentials are sent. */
  credentialTargets: string;
}
