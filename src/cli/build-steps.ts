/** What the containers of a build do that run sless; a composition root gives it to the command line. */
export interface BuildSteps {
  /** @returns digest of the image. @throws SlessError `image_push_failed`, `image_layout_invalid` */
  pushImage(request: {
    /** Folder of an OCI layout with one image. */
    readonly layout: string;
    /** `registry.example.org/team/name:tag`. */
    readonly destination: string;
    readonly plainHttp: boolean;
    /** A Docker `config.json` with the registry's credentials. */
    readonly dockerConfig: string | undefined;
    /** Repositories of the same registry whose layers need not be sent. */
    readonly mountFrom: readonly string[];
  }): Promise<string>;
  /** @throws SlessError `context_unavailable` */
  fetchContext(request: { readonly url: string; readonly to: string }): Promise<void>;
}
