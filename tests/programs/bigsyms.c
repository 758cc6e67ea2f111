/* bigsyms - give an ELF program a table of a million symbols.
 *
 *   bigsyms PROGRAM N LENGTH ADDRESS
 *
 * The present .symtab's entries come last; before them N functions of 16 bytes
 * from ADDRESS (hexadecimal) on, with names of LENGTH bytes.
 */
/* flags: -O1 -pthread -fno-omit-frame-pointer */
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static Elf64_Ehdr head;
static Elf64_Shdr sections[64], *symtab, *strtab;
static FILE *f;

static void *part(const Elf64_Shdr *s)
{
	void *p = malloc(s->sh_size);

	fseek(f, (long)s->sh_offset, SEEK_SET);
	if (!p || fread(p, 1, s->sh_size, f) != s->sh_size)
		exit(1);
	return p;
}

static void strings(long n, long length)
{
	char *old = part(strtab), *name = malloc((size_t)length + 1);

	memset(name, 'x', (size_t)length + 1);
	name[length] = '\0';
	fseek(f, 0, SEEK_END);
	strtab->sh_offset = (Elf64_Off)ftell(f);
	fwrite(old, 1, strtab->sh_size, f);
	for (long i = 0; i < n; i++) {
		sprintf(name, "%08lx", i);
		name[8] = 'x';
		fwrite(name, 1, (size_t)length + 1, f);
	}
}

static void symbols(long n, long length, Elf64_Addr at)
{
	Elf64_Sym *old = part(symtab);
	long here, section = head.e_shnum;

	while (--section && (at < sections[section].sh_addr ||
	       at - sections[section].sh_addr >= sections[section].sh_size))
		;

	fseek(f, 0, SEEK_END);
	while (ftell(f) % 8)
		fputc(0, f);
	here = ftell(f);
	for (long i = 0; i < n; i++) {
		Elf64_Sym s = {
			.st_name = (Elf64_Word)(strtab->sh_size +
				   (Elf64_Xword)(i * (length + 1))),
			.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
			.st_shndx = (Elf64_Half)section,
			.st_value = at + (Elf64_Addr)i * 16,
			.st_size = 16,
		};

		fwrite(&s, sizeof(s), 1, f);
	}
	fwrite(old, 1, symtab->sh_size, f);
	symtab->sh_offset = (Elf64_Off)here;
	symtab->sh_size += (Elf64_Xword)n * sizeof(Elf64_Sym);
	symtab->sh_info = 0;
	strtab->sh_size += (Elf64_Xword)(n * (length + 1));
}

int main(int argc, char **argv)
{
	if (argc < 5 || !(f = fopen(argv[1], "r+b")) ||
	    fread(&head, sizeof(head), 1, f) != 1 || head.e_shnum > 64)
		return 1;
	fseek(f, (long)head.e_shoff, SEEK_SET);
	if (fread(sections, sizeof(*sections), head.e_shnum, f) !=
	    head.e_shnum)
		return 1;
	for (int i = 0; i < head.e_shnum; i++)
		if (sections[i].sh_type == SHT_SYMTAB)
			symtab = &sections[i];
	if (!symtab)
		return 1;
	strtab = &sections[symtab->sh_link];
	strings(atol(argv[2]), atol(argv[3]));
	symbols(atol(argv[2]), atol(argv[3]), strtoul(argv[4], NULL, 16));
	fseek(f, (long)head.e_shoff, SEEK_SET);
	fwrite(sections, sizeof(*sections), head.e_shnum, f);
	return fclose(f) ? 1 : 0;
}
