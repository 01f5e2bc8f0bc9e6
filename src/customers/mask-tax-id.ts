/** `52998224725` -> `***.982.247-**`, and of a CNPJ `12345678000195` -> `**.345.678/****-**`: as the federal government shows them. */
export function maskTaxId(taxId: string): string {
  return taxId.length === 11
    ? `***.${taxId.slice(3, 6)}.${taxId.slice(6, 9)}-**`
    : `**.${taxId.slice(2, 5)}.${taxId.slice(5, 8)}/****-**`
}
