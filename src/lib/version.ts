import manifest from '../../package.json' with { type: 'json' }

/** Version of bench-action. */
export const VERSION: string = manifest.version
