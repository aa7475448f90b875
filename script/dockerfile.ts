/** The images that `dockerfile` builds on, each once: not its own stages, not `scratch`, not names made of variables. */
export function baseImages(dockerfile: string): string[] {
  const stages = new Set<string>(['scratch'])
  const images = new Set<string>()
  for (const line of dockerfile.split('\n')) {
    const [, image, stage] = /^\s*FROM\s+(?:--\S+\s+)*(\S+)(?:\s+AS\s+(\S+))?/i.exec(line) ?? []
    if (image === undefined) continue
    if (!stages.has(image.toLowerCase()) && !image.includes('$')) images.add(image)
    if (stage !== undefined) stages.add(stage.toLowerCase())
  }
  return [...images]
}
