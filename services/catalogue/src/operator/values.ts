// The values that the command line uses before it runs a command. Its help loads them, so this module imports no other.
export const formats = ['csv', 'ndjson'] as const;
export type Format = (typeof formats)[number];

/** The attribute filters of the demo's products, in the format of PRODUCT_ATTRIBUTES. */
export const sampleAttributes = 'colour,guaranteeYears:number,kind,material';
